/** Bundles the script and the style sheet of a report's page. */
export function buildReportPage(): Promise<{ readonly script: string; readonly style: string }>;

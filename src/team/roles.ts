// Who may do what on a team's server: roles without a login, each with what the one before may do, granted to logins by
// whoever administers the server.

/** Functions of the schema that each role may execute, beside those of the roles before it. */
export const ROLES = [
  { name: 'iree_tuned_reader', may: ['ask(jsonb)', 'pull(jsonb)', 'status(jsonb)'] },
  { name: 'iree_tuned_writer', may: ['push(jsonb)', 'want(jsonb)', 'revoke(jsonb)'] },
  { name: 'iree_tuned_worker', may: ['trials(jsonb)'] },
  { name: 'iree_tuned_administrator', may: ['distrust(text)', 'trust(text)'] },
] as const;

/** Owns the schema and all that is in it, so that no function runs with more rights than its tables take. */
export const OWNER = 'iree_tuned_administrator';

const statements = (lines: readonly string[]) => lines.map((line) => `  ${line}\n`).join('');

/** Lets the roles that there are call the functions that there are: of roles and tables either may come first. */
export const GRANTS = `DO $$ BEGIN
${statements(
  ROLES.flatMap(({ name, may }) => [
    `IF EXISTS (SELECT FROM pg_roles WHERE rolname = '${name}') AND to_regnamespace('iree_tuned') IS NOT NULL THEN`,
    `  GRANT USAGE ON SCHEMA iree_tuned TO ${name};`,
    ...may.flatMap((signature) => [
      `  IF to_regprocedure('iree_tuned.${signature}') IS NOT NULL THEN`,
      `    GRANT EXECUTE ON FUNCTION iree_tuned.${signature} TO ${name};`,
      `  END IF;`,
    ]),
    'END IF;',
  ]),
)}END $$`;

/** Makes the roles; each may do what the one before it may. */
const CREATION = ROLES.map(({ name }, i) => {
  const before = ROLES[i - 1]?.name;
  return [
    `DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${name}') THEN CREATE ROLE ${name} NOLOGIN; END IF;
END $$`,
    ...(before === undefined ? [] : [`GRANT ${before} TO ${name}`]),
  ].join(';\n');
}).join(';\n');

/** Whoever sets the server up is one of its administrators, or could not hand anything over to them. */
const OWNERSHIP = `GRANT ${OWNER} TO CURRENT_USER;
DO $$ DECLARE
  thing record;
BEGIN
  IF to_regnamespace('iree_tuned') IS NULL THEN
    CREATE SCHEMA iree_tuned AUTHORIZATION ${OWNER};
    RETURN;
  END IF;
  ALTER SCHEMA iree_tuned OWNER TO ${OWNER};
  FOR thing IN
    SELECT c.oid::regclass AS name, CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind
    FROM pg_class AS c
    WHERE c.relnamespace = 'iree_tuned'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'S')
      AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = c.oid AND d.deptype = 'i' AND c.relkind = 'S')
  LOOP
    EXECUTE format('ALTER %s %s OWNER TO ${OWNER}', thing.kind, thing.name);
  END LOOP;
  FOR thing IN SELECT oid::regprocedure AS name FROM pg_proc WHERE pronamespace = 'iree_tuned'::regnamespace LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO ${OWNER}', thing.name);
  END LOOP;
END $$`;

/** Everything, as often as one likes, before or after migrating. */
export const ROLES_SQL = `${CREATION};
${OWNERSHIP};
${GRANTS};
`;

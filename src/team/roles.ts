// Who may do what on a team's server: roles without a login, each with what the one before may do, granted to logins by
// whoever administers the server.

/** Functions of the schema that each role may execute, beside those of the roles before it. */
export const ROLES = [
  { name: 'iree_tuned_reader', may: ['ask(jsonb)', 'pull(jsonb)', 'status(jsonb)', 'trials_like(jsonb)'] },
  { name: 'iree_tuned_writer', may: ['push(jsonb)', 'want(jsonb)', 'revoke(jsonb)'] },
  {
    name: 'iree_tuned_worker',
    may: [
      'trials(jsonb)',
      'demands(jsonb)',
      'settle(jsonb)',
      'attend(jsonb)',
      'leave(jsonb)',
      'fleet(jsonb)',
    ],
  },
  { name: 'iree_tuned_administrator', may: ['distrust(text)', 'trust(text)', 'restore(text,text)'] },
] as const;

/** Owns the schema and all that is in it, so that no function runs with more rights than its tables take. */
export const OWNER = 'iree_tuned_administrator';

/** Schema of the queue that workers take jobs from: `src/fleet/install.ts` makes it. */
export const QUEUE_SCHEMA = 'iree_tuned_queue';

/** Whoever may use the queue's tables, all of them and as he likes. */
const QUEUE_USER: (typeof ROLES)[number]['name'] = 'iree_tuned_worker';

/** An expression for who owns a schema, or is to own it. */
export const OWNER_OF = (schema: string): string => `coalesce(
      (SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = '${schema}'),
      (SELECT rolname FROM pg_roles WHERE rolname = '${OWNER}' AND pg_has_role(oid, 'MEMBER')),
      quote_ident(current_user))`;

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
)}${statements([
  `IF EXISTS (SELECT FROM pg_roles WHERE rolname = '${QUEUE_USER}') AND to_regnamespace('${QUEUE_SCHEMA}') IS NOT NULL THEN`,
  `  GRANT USAGE ON SCHEMA ${QUEUE_SCHEMA} TO ${QUEUE_USER};`,
  `  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${QUEUE_SCHEMA} TO ${QUEUE_USER};`,
  'END IF;',
])}END $$`;

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

/** Everything of a schema that is there is the administrators'. */
const ownershipOf = (schema: string) => `DO $$ DECLARE
  thing record;
BEGIN
  IF to_regnamespace('${schema}') IS NULL THEN RETURN; END IF;
  ALTER SCHEMA ${schema} OWNER TO ${OWNER};
  FOR thing IN
    SELECT c.oid::regclass AS name, CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind
    FROM pg_class AS c
    WHERE c.relnamespace = '${schema}'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'S')
      AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = c.oid AND d.deptype = 'i' AND c.relkind = 'S')
  LOOP
    EXECUTE format('ALTER %s %s OWNER TO ${OWNER}', thing.kind, thing.name);
  END LOOP;
  FOR thing IN SELECT oid::regprocedure AS name FROM pg_proc WHERE pronamespace = '${schema}'::regnamespace LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO ${OWNER}', thing.name);
  END LOOP;
  FOR thing IN SELECT oid::regtype AS name FROM pg_type WHERE typnamespace = '${schema}'::regnamespace AND typtype = 'e' LOOP
    EXECUTE format('ALTER TYPE %s OWNER TO ${OWNER}', thing.name);
  END LOOP;
END $$`;

/** Whoever sets the server up is one of its administrators, or could not hand anything over to them. */
const OWNERSHIP = `GRANT ${OWNER} TO CURRENT_USER;
CREATE SCHEMA IF NOT EXISTS iree_tuned AUTHORIZATION ${OWNER};
CREATE SCHEMA IF NOT EXISTS ${QUEUE_SCHEMA} AUTHORIZATION ${OWNER};
${ownershipOf('iree_tuned')};
${ownershipOf(QUEUE_SCHEMA)}`;

/** Everything, as often as one likes, before or after migrating. */
export const ROLES_SQL = `${CREATION};
${OWNERSHIP};
${GRANTS};
`;

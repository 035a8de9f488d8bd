// Roles of a team's server. Each role includes the rights of the role before. The server's administrator grants them to logins.

/** Functions of the schema that each role adds. */
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

/** Owner of the schema. Its functions run with this role's rights only. */
export const OWNER = 'iree_tuned_administrator';

/** Schema of the workers' queue: `src/fleet/install.ts` creates it. */
export const QUEUE_SCHEMA = 'iree_tuned_queue';

/** Role that may read and write all tables of the queue. */
const QUEUE_USER: (typeof ROLES)[number]['name'] = 'iree_tuned_worker';

/** SQL expression of a schema's owner: the current one, else the administrators' role, else the login. */
export const OWNER_OF = (schema: string): string => `coalesce(
      (SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = '${schema}'),
      (SELECT rolname FROM pg_roles WHERE rolname = '${OWNER}' AND pg_has_role(oid, 'MEMBER')),
      quote_ident(current_user))`;

const statements = (lines: readonly string[]) => lines.map((line) => `  ${line}\n`).join('');

/** Grants existing functions to existing roles, because roles and functions may appear in any order. */
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

/** Creates the roles. */
const CREATION = ROLES.map(({ name }, i) => {
  const before = ROLES[i - 1]?.name;
  return [
    `DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${name}') THEN CREATE ROLE ${name} NOLOGIN; END IF;
END $$`,
    ...(before === undefined ? [] : [`GRANT ${before} TO ${name}`]),
  ].join(';\n');
}).join(';\n');

/** Gives a schema and its objects to the administrators' role. */
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

/** The login joins the administrators' role, because only a member may give objects to it. */
const OWNERSHIP = `GRANT ${OWNER} TO CURRENT_USER;
CREATE SCHEMA IF NOT EXISTS iree_tuned AUTHORIZATION ${OWNER};
CREATE SCHEMA IF NOT EXISTS ${QUEUE_SCHEMA} AUTHORIZATION ${OWNER};
${ownershipOf('iree_tuned')};
${ownershipOf(QUEUE_SCHEMA)}`;

/** Creates or updates roles, owners and grants. It may run any number of times, before or after a migration. */
export const ROLES_SQL = `${CREATION};
${OWNERSHIP};
${GRANTS};
`;

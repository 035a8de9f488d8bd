// A model of a team's server and its clients' databases: the rules as maps, without SQL.
import type { ClaimLine, RevocationLine } from '../../src/store/exchange/lines.ts';

export type Writer = 'ada' | 'bob';
export type Person = Writer | 'grace';
export type Revoked = Pick<RevocationLine, 'scope' | 'value'>;

/** One claim for each workload and configuration. */
export const keyOf = ({ workload, configuration }: ClaimLine): string => `${workload} ${configuration.kind}`;
const textOf = ({ scope, value }: Revoked): string => `${scope} ${value}`;

/** Claims have the same version and effort here: more processes win, then the greater digest. */
const isBetter = (a: ClaimLine, b: ClaimLine): boolean =>
  a.evidence.processes > b.evidence.processes ||
  (a.evidence.processes === b.evidence.processes && a.digest > b.digest);

const names = ({ createdBy, machine }: ClaimLine): string[] => [
  createdBy,
  machine,
  `${createdBy}@${machine}`,
];

/** Scopes of revocations that hide a claim; only the server knows `login`. */
const revokers = (claim: ClaimLine, login: string | null): string[] => [
  `record ${claim.digest}`,
  ...[...names(claim), ...(login === null ? [] : [login])].map((name) => `origin ${name}`),
];

/** Parts of a claim's subject; all claims share the last three. */
const partsOf = ({ workload }: ClaimLine): string[] => [workload, 'target', 'device', 'compiler'];

interface ServedClaim {
  readonly claim: ClaimLine;
  readonly login: Writer;
  seq: number;
}

export class ModelServer {
  readonly claims = new Map<string, ServedClaim>();
  /** Login that revoked, and the number of the change. */
  readonly revocations = new Map<
    string,
    { readonly revoked: Revoked; readonly login: string; readonly seq: number }
  >();
  readonly distrusted = new Set<string>();
  epoch = 1;
  seq = 0;
  /** The login that first described a key. */
  readonly #described = new Map<string, Writer>();
  /** Origins in all lines of a login. */
  readonly #origins = new Map<string, Set<string>>();
  readonly #login: (writer: Writer) => string;

  constructor(login: (writer: Writer) => string) {
    this.#login = login;
  }

  isRevoked = (claim: ClaimLine, login: Writer): boolean =>
    revokers(claim, this.#login(login)).some((text) => this.revocations.has(text));

  /** Claims that the server serves: none that is revoked or distrusted. */
  served(): ServedClaim[] {
    return [...this.claims.values()].filter(({ claim, login }) => !this.isRevoked(claim, login));
  }

  isDescribed = (claim: ClaimLine, part: string): boolean =>
    this.#described.has(part) && partsOf(claim).includes(part);

  /** @returns false for a distrusted login */
  push(writer: Writer, claims: readonly ClaimLine[], revoked: readonly Revoked[]): boolean {
    if (this.distrusted.has(writer)) return false;
    // The first description of a key wins. Claims about the key become changes.
    for (const part of new Set(claims.flatMap(partsOf))) {
      if (this.#described.has(part)) continue;
      this.#described.set(part, writer);
      for (const served of this.claims.values())
        if (partsOf(served.claim).includes(part)) served.seq = ++this.seq;
    }
    if (claims.length > 0) for (const name of claims.flatMap(names)) this.#originsOf(writer).add(name);
    for (const one of revoked) this.#revoke(writer, one);
    for (const claim of claims) {
      if (this.isRevoked(claim, writer)) continue;
      const before = this.claims.get(keyOf(claim));
      if (before === undefined || isBetter(claim, before.claim) || this.isRevoked(before.claim, before.login))
        this.claims.set(keyOf(claim), { claim, login: writer, seq: ++this.seq });
    }
    return true;
  }

  /** The login's name joins its origins at its first claim, and at the first after a distrust. */
  #originsOf(writer: Writer): Set<string> {
    const known = this.#origins.get(writer) ?? new Set([this.#login(writer)]);
    this.#origins.set(writer, known);
    return known;
  }

  /** @returns false if the login lacks the right */
  revoke(login: Person, one: Revoked): boolean {
    return !this.distrusted.has(login) && this.#revoke(login, one);
  }

  #revoke(login: Person, one: Revoked): boolean {
    if (this.revocations.has(textOf(one))) return true;
    if (!this.#mayRevoke(login, one)) return false;
    this.revocations.set(textOf(one), { revoked: one, login, seq: ++this.seq });
    return true;
  }

  /** Administrators may revoke anything. Writers may revoke their own claims, and origins that only their login has. */
  #mayRevoke(login: Person, { scope, value }: Revoked): boolean {
    if (login === 'grace') return true;
    if (scope === 'record')
      return [...this.claims.values()].every((one) => one.claim.digest !== value || one.login === login);
    const owners = [...this.#origins].filter(([, brought]) => brought.has(value)).map(([owner]) => owner);
    return owners.length === 1 && owners[0] === login;
  }

  /** Removes a revocation, and opens a new epoch. */
  restore(one: Revoked): void {
    if (this.revocations.delete(textOf(one))) this.epoch++;
  }

  /** Hides all lines of a login, and opens a new epoch. */
  distrust(writer: Writer): void {
    this.distrusted.add(writer);
    this.#originsOf(writer);
    for (const [key, { login }] of this.claims) if (login === writer) this.claims.delete(key);
    for (const [text, { login }] of this.revocations) if (login === writer) this.revocations.delete(text);
    for (const [part, login] of this.#described) if (login === writer) this.#described.delete(part);
    this.epoch++;
  }

  trust(writer: Writer): void {
    if (this.distrusted.delete(writer)) this.epoch++;
  }
}

/** A claim in a client's database. A shared claim came from the server, so it is not pushed. */
interface KeptClaim {
  readonly claim: ClaimLine;
  /** Number of the change; null for a shared claim. */
  readonly change: number | null;
}

export class ModelClient {
  readonly claims = new Map<string, KeptClaim>();
  readonly revocations = new Map<string, { readonly revoked: Revoked; readonly change: number | null }>();
  readonly #parts = new Set<string>();
  #change = 0;
  #pushed = { epoch: 0, change: 0 };
  #pulled = { epoch: 0, seq: 0 };

  isRevoked = (claim: ClaimLine): boolean => revokers(claim, null).some((text) => this.revocations.has(text));

  measure(claim: ClaimLine): void {
    for (const part of partsOf(claim)) this.#parts.add(part);
    this.#take(claim, false);
  }

  /** Pull and push start over, because a claim that lost against a revoked claim may win now. */
  revoke(revoked: Revoked, isShared: boolean): void {
    if (this.revocations.has(textOf(revoked))) return;
    this.revocations.set(textOf(revoked), { revoked, change: isShared ? null : ++this.#change });
    this.#pulled = { epoch: 0, seq: 0 };
    this.#pushed = { epoch: 0, change: 0 };
  }

  restore(revoked: Revoked): void {
    this.revocations.delete(textOf(revoked));
  }

  /** The better claim stays. A revoked claim replaces none. */
  #take(claim: ClaimLine, isShared: boolean): void {
    const before = this.claims.get(keyOf(claim))?.claim;
    if (before !== undefined) {
      const [isOld, isNew] = [this.isRevoked(before), this.isRevoked(claim)];
      if (isOld === isNew ? !isBetter(claim, before) : isNew) return;
    }
    this.claims.set(keyOf(claim), { claim, change: isShared ? null : ++this.#change });
  }

  push(writer: Writer, server: ModelServer): void {
    const after = this.#pushed.epoch === server.epoch ? this.#pushed.change : 0;
    const news = <T extends { readonly change: number | null }>(all: Iterable<T>): T[] =>
      [...all].filter(({ change }) => change !== null && change > after);
    const claims = news(this.claims.values());
    const revocations = news(this.revocations.values());
    const last = Math.max(...[...claims, ...revocations].map(({ change }) => change!));
    if (claims.length + revocations.length === 0) return;
    const isTaken = server.push(
      writer,
      claims.map(({ claim }) => claim),
      revocations.map(({ revoked }) => revoked),
    );
    if (isTaken) this.#pushed = { epoch: server.epoch, change: last };
  }

  pull(server: ModelServer): void {
    const known = this.revocations.size;
    const after = this.#pulled.epoch === server.epoch ? this.#pulled.seq : 0;
    const isNew = ({ seq }: { readonly seq: number }) => seq > after;
    const claims = server.served().filter(isNew);
    for (const { claim } of claims)
      for (const part of partsOf(claim)) if (server.isDescribed(claim, part)) this.#parts.add(part);
    const changes = [...claims, ...[...server.revocations.values()].filter(isNew)];
    for (const change of changes.sort((a, b) => a.seq - b.seq))
      if ('revoked' in change) this.revoke(change.revoked, true);
      else if (partsOf(change.claim).every((part) => this.#parts.has(part))) this.#take(change.claim, true);
    if (this.revocations.size > known) this.pull(server);
    else this.#pulled = { epoch: server.epoch, seq: server.seq };
  }
}

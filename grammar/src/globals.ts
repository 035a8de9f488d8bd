/**
 * The globals of one chunk. They may be defined after their uses, so whether a load is a constant is settled at the end.
 */
export class Globals {
  private readonly immutable = new Set<string>();
  private readonly mutable = new Set<string>();
  private readonly waiting: { readonly operand: { constant: boolean }; readonly name: string }[] = [];

  define(name: string, mutable: boolean): void {
    (mutable ? this.mutable : this.immutable).add(name);
  }

  /** Makes the operand constant if, in the end, its global is. */
  wait(operand: { constant: boolean }, name: string): void {
    this.waiting.push({ operand, name });
  }

  settle(): void {
    // Nested modules may have globals of the same name: all must be immutable.
    for (const { operand, name } of this.waiting) {
      operand.constant = this.immutable.has(name) && !this.mutable.has(name);
    }
  }
}

/**
 * The globals of one chunk. A global may be defined after its uses, so loads become constants at the end of the chunk.
 */
export class Globals {
  private readonly immutable = new Set<string>();
  private readonly mutable = new Set<string>();
  private readonly waiting: { readonly operand: { constant: boolean }; readonly name: string }[] = [];

  define(name: string, mutable: boolean): void {
    (mutable ? this.mutable : this.immutable).add(name);
  }

  /** Makes the operand constant at the end of the chunk if its global is immutable. */
  wait(operand: { constant: boolean }, name: string): void {
    this.waiting.push({ operand, name });
  }

  settle(): void {
    // Nested modules may have globals of the same name. All of them must be immutable.
    for (const { operand, name } of this.waiting) {
      operand.constant = this.immutable.has(name) && !this.mutable.has(name);
    }
  }
}

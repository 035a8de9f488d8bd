// Sources of executables with products of 4x8x2, as the compiler writes them.

/** A product. */
export const operation = (attributes = '') =>
  `        %r = linalg.matmul ${attributes} ins(%x, %y : tensor<4x2xf32>, tensor<2x8xf32>) outs(%z : tensor<4x8xf32>) -> tensor<4x8xf32>\n`;

/** An executable with these operations in a variant for each backend. */
export const executable = (
  operations: string,
  backends: readonly string[] = ['llvm-cpu'],
  name = 'f$async_dispatch_0',
) =>
  Buffer.from(
    `hal.executable public @${name} {\n${backends.map((one) => variant(one, operations)).join('\n')}\n}\n`,
  );

const variant = (backend: string, operations: string) =>
  `  hal.executable.variant public @${backend.replace('-', '_')} target(<"${backend}", "a-format", {a = "}"}>) {
    builtin.module {
      func.func @f_matmul() {
${operations}        return
      }
    }
  }`;

// `iree-tuned` from its source.
import { main } from '../../src/cli/iree-tuned.ts';

await main();

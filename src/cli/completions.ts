// `iree-tuned completions`
import { Argument, type Command } from 'commander';
import { CliCommand } from './command.ts';
import { bashScript } from './completions/bash.ts';
import { fishScript } from './completions/fish.ts';
import { commandsOf, ownFlags } from './completions/model.ts';
import { zshScript } from './completions/zsh.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

export type Shell = keyof typeof SCRIPTS;

export const SHELLS = Object.keys(SCRIPTS) as readonly Shell[];

export const completionsFor = (shell: Shell, program: Command): string =>
  SCRIPTS[shell](commandsOf(program), ownFlags());

export const completions = new CliCommand(
  'completions',
  'print a script that completes iree-tuned and iree-compile-tuned in a shell',
)
  .addArgument(new Argument('<shell>', 'name of the shell').choices(SHELLS))
  .examples(
    ['source <(iree-tuned completions bash)', 'in ~/.bashrc'],
    ['source <(iree-tuned completions zsh)', 'in ~/.zshrc, after compinit'],
    ['iree-tuned completions fish | source', 'in ~/.config/fish/config.fish'],
  )
  .action((shell: Shell, _, command: CliCommand) => {
    process.stdout.write(completionsFor(shell, command.parent!));
  });

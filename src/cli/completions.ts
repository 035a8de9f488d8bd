// `iree-tuned completions`: what a shell needs to complete the two command lines, made from the commands themselves.
import type { Command as Program } from 'commander';
import { bashScript } from './completions/bash.ts';
import { fishScript } from './completions/fish.ts';
import { commandsOf, ownFlags } from './completions/model.ts';
import { zshScript } from './completions/zsh.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

export type Shell = keyof typeof SCRIPTS;

export const SHELLS = Object.keys(SCRIPTS) as readonly Shell[];

export const completionsFor = (shell: Shell, program: Program): string =>
  SCRIPTS[shell](commandsOf(program), ownFlags());

/** @param command that was called, below the program that everything is about */
export function printCompletions(shell: Shell, _: object, command: Program): void {
  process.stdout.write(completionsFor(shell, command.parent!));
}

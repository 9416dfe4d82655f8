// Completion scripts, made from the command tree: what can follow each command, with its meaning where the shell shows it.
import type { Branch } from '../branch.js';
import type { Command } from '../define.js';
import { flagName, negatedFlag, takesWord } from '../flags.js';
import { globalOptions } from '../globals.js';
import type { Value } from '../values.js';

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof shells)[number];

interface Word {
  readonly text: string;
  readonly summary: string;
}

interface Flag extends Word {
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** A command and what can follow it. */
export interface CompletionNode {
  /** `send lightning`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly flags: readonly Flag[];
  /** What the first argument may be, where that is a fixed set. */
  readonly choices: readonly string[];
}

/** Loads every command of the tree. */
export async function completionNodes(root: Branch): Promise<CompletionNode[]> {
  const nodes: CompletionNode[] = [];
  const visit = async (branch: Branch, path: readonly string[]): Promise<void> => {
    const command = await branch.load?.();
    const visible = (branch.branches ?? []).filter((each) => each.hidden !== true);
    nodes.push({
      path: path.join(' '),
      commands: visible.map(({ name, summary }) => ({ text: name, summary })),
      flags: [...flagsOf(command?.options ?? {}), ...(path.length === 0 ? flagsOf(globalOptions) : [])],
      choices: firstChoices(command),
    });
    for (const child of visible) await visit(child, [...path, child.name]);
  };
  await visit(root, []);
  return nodes;
}

function flagsOf(values: Command['options']): Flag[] {
  return Object.entries(values).flatMap(([name, value]) =>
    spellings(name, value).map((text) => ({
      text,
      summary: value.shape.summary,
      takesValue: takesWord(value),
      choices: value.shape.choices,
    })),
  );
}

function spellings(name: string, { shape }: Value<unknown>): string[] {
  if (shape.kind === 'off') return [negatedFlag(name)];
  return shape.kind === 'on-off' ? [flagName(name), negatedFlag(name)] : [flagName(name)];
}

const firstChoices = (command: Command | undefined): readonly string[] =>
  Object.values(command?.arguments ?? {})[0]?.shape.choices ?? [];

const generated = 'Generated from the command tree: npm run completions';

export function completionScript(shell: Shell, nodes: readonly CompletionNode[]): string {
  return { bash, zsh, fish, powershell }[shell](nodes);
}

const wordsOf = ({ commands, choices }: CompletionNode): string[] => [...commands.map(({ text }) => text), ...choices];

const globalsOf = (nodes: readonly CompletionNode[]): readonly Flag[] => nodes[0]?.flags ?? [];

const valued = (nodes: readonly CompletionNode[]): Flag[] => {
  const all = nodes.flatMap(({ flags }) => flags).filter(({ takesValue }) => takesValue);
  return [...new Map(all.map((flag) => [flag.text, flag])).values()];
};

function bash(nodes: readonly CompletionNode[]): string {
  const globals = globalsOf(nodes).map(({ text }) => text).join(' ');
  const cases = nodes.map((node) => {
    const own = node.path === '' ? '' : node.flags.map(({ text }) => text).join(' ');
    return `    '${node.path}') words='${wordsOf(node).join(' ')}' flags='${own}' ;;`;
  });
  const known = nodes.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`).join('|');
  const values = valued(nodes)
    .filter(({ choices }) => choices.length > 0)
    .map(({ text, choices }) => `    ${text}) COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$current")); return ;;`);
  const others = valued(nodes).filter(({ choices }) => choices.length === 0).map(({ text }) => text);
  return `# bash completion for svcpay. ${generated}
_svcpay() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path='' words='' flags='' word
  case "$previous" in
${values.join('\n')}
    ${others.join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && continue
    case "\${path:+$path }$word" in
      ${known}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  if [[ $current == -* ]]; then words="$flags ${globals} --help"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _svcpay svcpay
`;
}

const zshText = (text: string): string => text.replaceAll("'", "'\\''").replaceAll(':', '\\:').replaceAll(/[[\]]/g, '\\$&');

function zsh(nodes: readonly CompletionNode[]): string {
  const described = (words: readonly Word[]): string =>
    words.map(({ text, summary }) => `'${zshText(text)}:${zshText(summary)}'`).join(' ');
  const cases = nodes.map((node) => {
    const choices = node.choices.map((text) => ({ text, summary: '' }));
    const flags = node.path === '' ? [] : node.flags;
    return `    '${node.path}') words=(${described([...node.commands, ...choices])}) flags=(${described(flags)}) ;;`;
  });
  const known = nodes.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`).join('|');
  const values = valued(nodes)
    .filter(({ choices }) => choices.length > 0)
    .map(({ text, choices }) => `    ${text}) compadd -- ${choices.join(' ')}; return ;;`);
  const others = valued(nodes).filter(({ choices }) => choices.length === 0).map(({ text }) => text);
  return `#compdef svcpay
# zsh completion for svcpay. ${generated}
_svcpay() {
  local path_='' word
  local -a words_ flags globals
  globals=(${described(globalsOf(nodes))} '--help:display help')
  case "\${words[CURRENT-1]}" in
${values.join('\n')}
    ${others.join('|')}) _files; return ;;
  esac
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] && continue
    case "\${path_:+$path_ }$word" in
      ${known}) path_="\${path_:+$path_ }$word" ;;
    esac
  done
  case "$path_" in
${cases.map((line) => line.replace(' words=', ' words_=')).join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    flags+=("\${globals[@]}")
    _describe 'option' flags
  elif (( \${#words_} )); then
    _describe 'command' words_
  else
    _files
  fi
}
compdef _svcpay svcpay
`;
}

const fishText = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function fish(nodes: readonly CompletionNode[]): string {
  const lines = nodes.flatMap((node) => {
    const at = `-n ${fishText(`__svcpay_at ${node.path}`.trim())}`;
    return [
      ...node.commands.map(({ text, summary }) => `complete -c svcpay -f ${at} -a ${text} -d ${fishText(summary)}`),
      ...node.choices.map((text) => `complete -c svcpay -f ${at} -a ${fishText(text)}`),
      ...node.flags.map((flag) => `complete -c svcpay ${node.path === '' ? '' : `${at} `}-l ${flag.text.slice(2)}${fishValue(flag)} -d ${fishText(flag.summary)}`),
    ];
  });
  const known = nodes.filter(({ path }) => path !== '').map(({ path }) => fishText(path)).join(' ');
  return `# fish completion for svcpay. ${generated}
function __svcpay_path
    set -l known ${known}
    set -l path
    for word in (commandline -opc)[2..]
        string match -q -- '-*' $word; and continue
        contains -- (string join ' ' $path $word) $known; and set -a path $word
    end
    string join ' ' $path
end
function __svcpay_at
    test (__svcpay_path) = "$argv"
end
${lines.join('\n')}
`;
}

function fishValue({ takesValue, choices }: Flag): string {
  if (!takesValue) return '';
  return choices.length > 0 ? ` -x -a ${fishText(choices.join(' '))}` : ' -r';
}

const powershellText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

function powershell(nodes: readonly CompletionNode[]): string {
  const entries = nodes.map((node) => {
    const flags = node.path === '' ? [] : node.flags.map(({ text }) => text);
    return `    ${powershellText(node.path)} = @(${[...wordsOf(node), ...flags].map(powershellText).join(', ')})`;
  });
  const globals = globalsOf(nodes).map(({ text }) => powershellText(text));
  return `# PowerShell completion for svcpay. ${generated}
Register-ArgumentCompleter -Native -CommandName svcpay -ScriptBlock {
  param($word, $line, $position)
  $known = @{
${entries.join('\n')}
  }
  $path = ''
  foreach ($each in ($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })) {
    if ($each.StartsWith('-')) { continue }
    $next = ("$path $each").Trim()
    if ($known.ContainsKey($next)) { $path = $next }
  }
  ($known[$path] + @(${globals.join(', ')})) | Where-Object { $_ -like "$word*" } |
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
}
`;
}

interface Release {
  readonly packageJson: Readonly<Record<string, unknown>>;
  readonly changelog: string;
  readonly tags: readonly string[];
  readonly changes: string;
}
export function unready(release: Release): string[];

interface Release {
  readonly version: string;
  readonly packageJson: Readonly<Record<string, unknown>>;
  readonly changelog: string;
  readonly tags: readonly string[];
  readonly changes: string;
  readonly origin: string | undefined;
}
export function unready(release: Release): string[];

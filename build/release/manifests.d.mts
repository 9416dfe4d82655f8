interface Package {
  readonly version: string;
  readonly homepage: string;
  readonly url: string;
  readonly sha256: string;
}
export function manifests(release: Package): Readonly<Record<string, string>>;

// Writes the manifests of package managers from the checksum of the package. Pure.

/**
 * @param release `version`, `homepage`, `url` (of the package) and `sha256`
 * @returns the text of each manifest by its file name
 */
export const manifests = (release) => ({
  'homebrew/svcpay.rb': homebrew(release),
  'scoop/svcpay.json': `${JSON.stringify(scoop(release), null, 4)}\n`,
  'aur/PKGBUILD': aur(release),
  'aur/.SRCINFO': aurSource(release),
});

const description = 'Command-line wallet for Lightning, on-chain Bitcoin, USDT and local fiat';

const homebrew = ({ homepage, url, sha256 }) => `class Svcpay < Formula
  desc "${description}"
  homepage "${homepage}"
  url "${url}"
  sha256 "${sha256}"
  license "MIT"

  depends_on "node"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink libexec.glob("bin/*")
    man1.install libexec/"lib/node_modules/svcpay/man/svcpay.1"
    generate_completions_from_executable(bin/"svcpay", "completion", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/svcpay --version")
    assert_match "p2wpkh", shell_output("#{bin}/svcpay decode bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4")
  end
end
`;

/** Scoop would unpack the package; npm must install it. So the manifest downloads another name. */
const scoop = ({ version, homepage, url, sha256 }) => ({
  version,
  description,
  homepage,
  license: 'MIT',
  depends: 'nodejs',
  url: `${url}#/package.tgz_`,
  hash: sha256,
  installer: {
    script: [
      'Rename-Item "$dir\\package.tgz_" package.tgz',
      'npm install --global --prefix "$dir" "$dir\\package.tgz"',
    ],
  },
  bin: 'svcpay.cmd',
});

const aur = ({ version, homepage, url, sha256 }) => `pkgname=svcpay
pkgver=${version.replaceAll('-', '_')}
pkgrel=1
pkgdesc="${description}"
arch=(x86_64 aarch64)
url="${homepage}"
license=(MIT)
depends=(nodejs)
makedepends=(npm)
source=("${url}")
noextract=("${url.split('/').at(-1)}")
sha256sums=(${sha256})

package() {
  npm install --global --prefix "$pkgdir/usr" "$srcdir/${url.split('/').at(-1)}"
  chown -R root:root "$pkgdir"
  install -Dm644 "$pkgdir/usr/lib/node_modules/svcpay/LICENSE" "$pkgdir/usr/share/licenses/svcpay/LICENSE"
}
`;

const aurSource = ({ version, homepage, url, sha256 }) => `pkgbase = svcpay
\tpkgdesc = ${description}
\tpkgver = ${version.replaceAll('-', '_')}
\tpkgrel = 1
\turl = ${homepage}
\tarch = x86_64
\tarch = aarch64
\tlicense = MIT
\tmakedepends = npm
\tdepends = nodejs
\tnoextract = ${url.split('/').at(-1)}
\tsource = ${url}
\tsha256sums = ${sha256}

pkgname = svcpay
`;

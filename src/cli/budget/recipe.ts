// Prints how to run svcpay for a budget where its holder cannot reach the secret: as another user
// behind a socket, over SSH, beside a container, or in a protected CI job.
import { defineCommand, text } from '../define.js';
import { choice } from '../values.js';
import { budgetName } from './budget.js';

const tried = '# Run by our tests';
const notTried = '# Not tried here.';

const serve = 'svcpay mcp --allow-payments --budget NAME';

const connect = `# The command of the agent's MCP server
svcpay mcp --connect /run/svcpay-NAME.sock
`;

const login = (user: string): string => `sudo -u ${user} svcpay login
sudo -u ${user} svcpay budget add NAME --per-day 100000sat
`;

const checkAs = (
  home: string,
): string => `# Check: prints "shut", because the agent cannot reach the secret
sudo -u AGENT sh -c 'ls ${home} 2>/dev/null || echo shut'

${connect}`;

/** Each recipe as text, with NAME for the budget and AGENT for the user who spends. */
const recipes = {
  systemd: `${tried}, except for a booted systemd. A script for root.
useradd --system --create-home --home-dir /var/lib/svcpay --shell /usr/sbin/nologin svcpay
chmod 700 /var/lib/svcpay
groupadd svcpay-NAME
usermod --append --groups svcpay-NAME AGENT
${login('svcpay')}
cat > /etc/systemd/system/svcpay-NAME.socket <<'END'
[Socket]
ListenStream=/run/svcpay-NAME.sock
SocketUser=svcpay
SocketGroup=svcpay-NAME
SocketMode=0660
Accept=yes
MaxConnections=16
[Install]
WantedBy=sockets.target
END

cat > /etc/systemd/system/svcpay-NAME@.service <<'END'
[Service]
User=svcpay
Environment=HOME=/var/lib/svcpay
ExecStart=/usr/bin/env ${serve}
StandardInput=socket
StandardOutput=socket
StandardError=journal
CapabilityBoundingSet=
NoNewPrivileges=yes
PrivateDevices=yes
PrivateTmp=yes
ProtectSystem=strict
ReadWritePaths=/var/lib/svcpay
END

systemctl daemon-reload
systemctl enable --now svcpay-NAME.socket

${checkAs('/var/lib/svcpay')}`,
  launchd: `${notTried} A script for root. Replace 499 by the id of the group.
sysadminctl -addUser _svcpay -home /var/svcpay -shell /usr/bin/false
chmod 700 /var/svcpay
dseditgroup -o create svcpay-NAME
dseditgroup -o edit -a AGENT -t user svcpay-NAME
${login('_svcpay')}
cat > /Library/LaunchDaemons/svcpay.NAME.plist <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
<key>Label</key><string>svcpay.NAME</string>
<key>UserName</key><string>_svcpay</string>
<key>EnvironmentVariables</key><dict><key>HOME</key><string>/var/svcpay</string></dict>
<key>ProgramArguments</key>
<array><string>/usr/bin/env</string>${serve.replaceAll(/(\S+) ?/g, '<string>$1</string>')}</array>
<key>inetdCompatibility</key><dict><key>Wait</key><false/></dict>
<key>Sockets</key><dict><key>Listener</key><dict>
<key>SockPathName</key><string>/run/svcpay-NAME.sock</string>
<key>SockPathGroup</key><integer>499</integer>
<key>SockPathMode</key><integer>432</integer>
</dict></dict>
</dict></plist>
END
launchctl bootstrap system /Library/LaunchDaemons/svcpay.NAME.plist

${checkAs('/var/svcpay')}`.replaceAll('/run/', '/var/run/'),
  ssh: `${notTried} Needs a user svcpay on HOST, with its login and the budget NAME.
# In ~svcpay/.ssh/authorized_keys on HOST (mode 600), with the public key of the agent
restrict,command="${serve}" ssh-ed25519 KEY AGENT

# The command of the agent's MCP server
ssh -T svcpay@HOST

# Check: prints no file, because the agent gets no shell
ssh -T svcpay@HOST ls </dev/null
`,
  podman: `${notTried} Needs the socket of the systemd recipe, which alone is in the container.
podman run --rm -i --group-add keep-groups \\
  --volume /run/svcpay-NAME.sock:/run/svcpay-NAME.sock IMAGE

# Check: prints "shut", because the container has no home of svcpay
podman run --rm IMAGE sh -c 'ls /var/lib/svcpay 2>/dev/null || echo shut'

${connect}`,
  ci: `${tried}, without the CI service. A workflow of GitHub Actions.
# The environment "payments" has the secrets and a required reviewer, who compares the ID.
# The job "within-budget" has no reviewer, and pays up to the budget NAME in the database.
on: workflow_dispatch
jobs:
  plan:
    runs-on: ubuntu-latest
    outputs:
      id: \${{ steps.plan.outputs.id }}
      proposal: \${{ steps.plan.outputs.proposal }}
    steps:
      - id: plan
        run: |
          id=$(svcpay propose send ada@example.com 1300sat --max-total 1500sat --outbox . -q)
          echo "The ID of the proposal is $id"
          echo "id=$id" >> "$GITHUB_OUTPUT"
          echo "proposal=$(cat "$id.proposal.json")" >> "$GITHUB_OUTPUT"
  pay:
    needs: plan
    runs-on: ubuntu-latest
    environment: payments
    env: &secrets
      SVCPAY_API_KEY: \${{ secrets.SVCPAY_API_KEY }}
      SVCPAY_API_SECRET: \${{ secrets.SVCPAY_API_SECRET }}
      SVCPAY_DATABASE_URL: \${{ secrets.SVCPAY_DATABASE_URL }}
    steps:
      - env:
          ID: \${{ needs.plan.outputs.id }}
          PROPOSAL: \${{ needs.plan.outputs.proposal }}
        run: |
          printf %s "$PROPOSAL" > "$ID.proposal.json"
          svcpay proposals pay "$ID" --digest "$ID" --yes --json --outbox .
  within-budget:
    runs-on: ubuntu-latest
    environment: budget
    env: *secrets
    steps:
      - env:
          SVCPAY_BUDGET: NAME
        run: svcpay send ada@example.com 100sat --ref order-118 --yes --json
`,
};

type Place = keyof typeof recipes;

export const budgetRecipe = defineCommand({
  arguments: { name: budgetName() },
  options: {
    for: choice<Place>(['systemd', 'launchd', 'ssh', 'podman', 'ci']).describe('where svcpay runs'),
  },
  examples: [
    [
      'svcpay budget recipe agent --for systemd',
      'prints the units, modes and group for an agent that cannot reach the secret',
    ],
  ],
  run: async ({ name, for: place }) => recipes[place].replaceAll('NAME', name).trimEnd(),
  view: text,
});

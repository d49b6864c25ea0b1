/** Text of `flyball --help`. Imports nothing, so that it answers at once. */

interface Usage {
  readonly line: string
  /** One line, for the list of commands. */
  readonly does: string
  readonly text: string
}

const usage: { readonly [command: string]: Usage } = {
  serve: {
    line: "flyball serve [--demo]",
    does: "starts the HTTP server",
    text:
      "Starts the HTTP server and prints one line with its address when it is ready; the log goes to " +
      "standard error.\nSettings come from the environment (flyball config shows them). SIGTERM or SIGINT " +
      "stops it: it finishes running requests and signs a last checkpoint.\nWith --demo it serves real traces from " +
      "memory to anyone, read-only: no token is needed, none allows more, and nothing is kept when it stops.\nIt " +
      "prints a bearer token of the persona auditor, for clients that need one."
  },
  token: {
    line: "flyball token --role R [--sub S] [--org-unit U]",
    does: "prints a short-lived token of the development issuer",
    text:
      "Prints a token of the loopback development issuer that is valid for 15 minutes.\nR is admin, " +
      "governor, operator, reviewer or auditor; S defaults to dev, U to * (all org units).\nAccesses only the data " +
      "folder."
  },
  login: {
    line: "flyball login [--issuer I] [--client-id C] [FLAG…] | --token",
    does: "signs a person in at the OpenID provider",
    text: `Signs in at the provider and keeps the session in ~/.config/flyball/session.json, for your account alone.
Prints an address and a code to enter there, on any device; or the address for a browser on this host.
  --issuer I         the provider (default: FLYBALL_OIDC_ISSUER)
  --client-id C      the client that is registered there (default: FLYBALL_OIDC_AUDIENCE)
  --device           with a code, the default where the provider has it
  --browser          with a browser on this host (authorization code with PKCE)
  --redirect URI     for --browser: the registered address (default: http://127.0.0.1/callback, at any free port)
  --use id|access    the token that the server takes (default: id)
  --scope S          default: "openid profile email offline_access"
  --client-secret-file FILE  for a provider that gives a secret to programs
  --url URL          the server; says your role there, and other commands with --remote ask it
  --token            prints the token of the session, and extends the session first where it is about to end
Accesses only that file, never the data folder. To sign out on this host, remove the file.`
  },
  vkey: {
    line: "flyball vkey [--chain ORIGIN]",
    does: "prints the chain's verification key",
    text:
      "Prints the chain's verification key, the one to pin when verifying packs.\nAccesses only the data folder, " +
      "and creates it if it does not exist. If the store has a chain, no key is created, and the key comes from the " +
      "chain. With --chain: the key of a retired chain; reads the store too."
  },
  "rotate-key": {
    line: "flyball rotate-key",
    does: "replaces the signing key",
    text:
      "Makes a new signing key, records it in the chain, has both keys sign one checkpoint, and destroys " +
      "the old one.\nPrints both verification keys, that checkpoint, and a notice for those who pinned the " +
      "old key.\nIf it is interrupted, the next start of flyball serve finishes it, or running it again.\nOn " +
      "Postgres it works beside running servers that share this data folder; on SQLite the running server does it, " +
      "over the control socket of the data folder."
  },
  check: {
    line: "flyball check",
    does: "recomputes the chain, replays the records, compares",
    text:
      "Recomputes the chain from stored bytes, replays the records and compares them with the stored " +
      "documents and idempotency keys.\nLists what has nothing to be compared with.\nExit status 1 on a " +
      "difference. Reads only; works beside a running server."
  },
  import: {
    line: "flyball import FILE.ndjson[.gz]… [--org-unit U]",
    does: "witnesses agents' traces",
    text:
      "Witnesses agents' traces, one decision per line. Agents are registered by name in org unit U " +
      "(default: imported). FILE - is standard input.\nImporting the same file again records nothing. On SQLite " +
      "the server must be stopped."
  },
  export: {
    line: "flyball export --kind full|range|sparse [FLAG…] --out FILE",
    does: "writes an evidence pack",
    text: `Writes an evidence pack up to the last signed checkpoint. FILE ends in .evp, .evp.gz or .evp.zst.
An existing FILE is refused without --force; a file of the data folder, the store or the keys always is.
  --kind full       every record
  --kind range      the records --from N to --to N, both included, or --since TIME --until TIME (RFC 3339;
                    the second is not included)
  --kind sparse     the records that match all of: --from N, --to N, --agent ID, --run ID, --record-kind K…,
                    --since TIME, --until TIME
  --disclose WHAT   all, none (the default) or names of parts: --disclose args,result
  --chain ORIGIN    a retired chain, instead of the current one
  --force           replaces FILE when the new one is complete
  --checkpoint-now  first signs a checkpoint of all records; on SQLite the running server does
Without --checkpoint-now it reads only. Records nothing; works beside a running server.`
  },
  backup: {
    line: "flyball backup --out DIR",
    does: "copies the store and its guard, beside a running server",
    text:
      "Copies the store as it is at one moment, with the signing guard that fits it, into the new folder " +
      "DIR, and checks the copy.\nThe keys are not in it. Writes only DIR; works beside a running server."
  },
  restore: {
    line: "flyball restore --from DIR [--guard [--nothing-signed-since]] | --rename-key",
    does: "writes a backup into an empty file or database",
    text: `Writes the store of a backup to FLYBALL_DATABASE_URL: a SQLite file that does not exist, or a Postgres
database without a store. The guard in the data folder stays as it is. With --guard the backup's guard is
installed if there is none. More may have been signed than it knows of, so the server does not start on it until
you choose one of:
  flyball restore --nothing-signed-since   nothing was signed after the backup: the server starts. It can be
                                           combined with --guard
  flyball recover --accept-rollback …      something was, or it is not known: the chain continues under another name
A signing.key from a vault may be older than a recovery: the right key under the chain's old name. The server
reports that, and
  flyball restore --rename-key             gives it the name of the chain in the store`
  },
  migrate: {
    line: "flyball migrate [--dry-run]",
    does: "migrates the store to this version's schema",
    text:
      "Runs the schema changes that the store lacks, and prints each. flyball serve does the same at its " +
      "start; with several servers, run this first.\nWith --dry-run it only prints them, and changes " +
      "nothing."
  },
  recover: {
    line: "flyball recover --accept-rollback --reason TEXT [--guard-forgotten] [--origin NEW]",
    does: "continues from a store that is older than its guard",
    text: `For a store that is older than its last signature, or holds other records, when no newer copy is left.
The store's chain is retired, whole and read-only. A new chain begins in its place, with the same agents, keys and
settings, signed by the same key under another name.
  --accept-rollback   gives up signed records that are not in the store. Without it, only reports how many
  --guard-forgotten   more was signed than the guard knows of, and no newer copy of the guard is left. Not
                      needed with a backup's guard, or without any guard
  --reason TEXT       what happened, 1 to 2,000 characters; it is sealed into the first record of the new chain
  --origin NEW        the new chain's name (default: the old one and ~2-<random>, then ~3-<random>; a generated name
                      is replaced by another)
If it is interrupted, run it again to finish it. On SQLite the server must be stopped; on Postgres running servers
refuse from then on, and must be restarted.`
  },
  halt: {
    line: "flyball halt TARGET --reason TEXT [--response R] [--dry-run] [--json]",
    does: "stops agents, also while nobody can sign in",
    text: `Activates the kill switch as system:operator, and prints the agents that it reaches. TARGET is one of
  AGENT              an agent's id or exact name; agents registered below it are reached too
  model:ID           every agent that uses the model: its id or name, as agents name it
  --org-unit NAME    every agent of the org unit
  --deployment       every agent
  --response R       notify, step_down, drain, halt (the default) or quarantine
  --dry-run          only prints the agents that it would reach; records nothing, needs no reason
  --json             the answer of POST /api/v1/bound/kill/activate
Works beside a running server, which applies it from the next request on: on SQLite the server does it, over the
control socket in its data folder.`
  },
  release: {
    line: "flyball release ACTIVATION --reason TEXT [--json]",
    does: "ends one activation of the kill switch",
    text: `Releases the activation kil_… that flyball halt or flyball kill-status printed. Other activations for
the target stay active. The activator of a halt that reaches an agent at L3 or above cannot release it: what this
host halted, a person releases over HTTP.
Works beside a running server, as flyball halt does.`
  },
  "kill-status": {
    line: "flyball kill-status TARGET [--json]",
    does: "prints what is halted, since when, and who acknowledged it",
    text: `Prints the kill state of TARGET (as for flyball halt), and every activation that reaches it, with the
instances that acknowledged it, stopped, or have not answered. Reads only; works beside a running server.`
  },
  why: {
    line: "flyball why AGENT [--last N] [--remote] [--json]",
    does: "says why an agent's actions are denied, and what to do",
    text: `Prints the state of AGENT (its id or exact name), its last denials (5; --last N up to 50), each in words,
and what lets such an action through.
  --remote           asks the server of flyball login, as the person who signed in
  --json             the agent, its kill status, evaluations with explanations, and open reviews
Reads only; works beside a running server.`
  },
  reviews: {
    line: "flyball reviews [--json]",
    does: "lists the reviews that wait for people",
    text:
      `Prints the reviews that are open or claimed, oldest first: the action, when it expires, and the ` +
      `approvals that it still needs.
  --json             all of them, as GET /api/v1/bound/reviews answers them
People answer over HTTP, with a token of their own. Reads only; works beside a running server.`
  },
  certificate: {
    line: "flyball certificate stop --activation ID --out FILE",
    does: "writes the evidence of one activation of the kill switch",
    text: `Writes the records from the activation ID (its request, if there was one) to its release, or to the newest,
as an evidence pack, and prints the stop certificate as JSON: flyball-verify FILE --certificate ID makes the same one.
It first signs a checkpoint of all records; on SQLite the running server does. Otherwise it only reads.`
  },
  mapping: {
    line: "flyball mapping show | set FILE",
    does: "shows or sets which claims of tokens give which role",
    text: `Prints the access mapping as JSON, or replaces it with the one in FILE:
  {"rules": [{"match": {"claim": "groups", "value": "security"}, "role": "admin", "org_unit": "*"}],
   "trust_canonical": false}
claim is roles, groups or user_ids; role is admin, governor, operator, reviewer or auditor; org_unit * is every one.
For the first administrator, and when no administrator is left; administrators use
PUT /api/v1/admin/entitlement-rules.
Works beside running servers, which apply it from the next request on: on SQLite the server does it, over the control
socket of the data folder.`
  },
  "platform-key": {
    line: "flyball platform-key mint FLAG… | list [--json] | revoke ID",
    does: "mints, lists or revokes keys of the platform API",
    text: `Prints a new platform key, this once and nothing else; the keys there are; or that one is revoked.
  --name N           what people call it
  --org-unit U       whose requests, usage and events it is for
  --plan P           free, starter, growth, enterprise or custom
  --scopes S,…       what it may be used for: * for all but executions:approve, or names as usage:read
  --agent ID         the agent that calls the gateway with it, of U: its clients need no header that names it
  --expires-at T     when it ends, RFC 3339
Limits of a key of the plan custom are set with POST /api/v1/admin/platform-keys.
Works beside running servers: on SQLite the server does it, over the control socket of the data folder. A revoked key is
refused from the next request on.`
  },
  "gateway-secret": {
    line: "flyball gateway-secret --base-url U",
    does: "seals the secret of an upstream of the gateway",
    text: `Reads a secret from standard input, and prints it sealed, as the member sealed_secret of an upstream in the
file FLYBALL_GATEWAY_UPSTREAMS. It opens with this host's secrets.key alone, and for the host of --base-url alone.`
  },
  envelope: {
    line: "flyball envelope new FLAG | test FILE… | export FLAG FILE",
    does: "drafts an envelope, tests it, or exports it as a policy",
    text: `new --from-tools SERVER prints a draft for the tools that a tool server (its name or id) listed last, or with
FILE.json for an answer to tools/list: signals from the arguments, effect classes by what the server says, a review
of everything. Standard error says what to confirm and what was left out. Reads only.

test runs the cases in each FILE beside its envelope, with no server, and prints each that ends otherwise:
  {"envelope": {…} or a path from FILE, "tier": "L2",
   "cases": [{"name": "…", "input": {"action": "refund", "args": {…}}, "outcome": "deny", "rule": "large"}]}
Exit status 1 on a difference. docs/envelopes.md describes the format.

export --to cedar|cel prints the rules of the envelope in FILE (envelope/1, as JSON) as policies of Cedar or one
expression of CEL. The result is a copy: the server enforces the envelope.
Outcome and rule are the same for all values in their domains; the comments say how to read them and what to
pass. Meters, latches and derived signals become attributes that the caller computes; the tier floor and other
layers are left out.
What the language cannot express is refused: for CEL obligations, times and suggestions of rules.

test and export read only FILE (- for standard input).`
  },
  card: {
    line: "flyball card sign --key FILE --card FILE | trust --key FILE",
    does: "signs an agent card, or trusts a key that signs cards",
    text: `sign prints the card in the JSON file --card, signed with the Ed25519 key in --key, as the body of
POST /api/v1/agents/{agent_id}/identity. The card's name must be the agent's. - reads standard input.
trust writes the public half of the key into the folder FLYBALL_TRUST_STORE, and prints that file. A running
server uses it from the next card on.
A key file that does not exist is created, with mode 0600. Its name without the ending is the key id.`
  },
  config: {
    line: "flyball config",
    does: "prints the settings in force",
    text: "Prints the settings in force and where each comes from, secrets masked."
  }
}

const footer =
  "Settings are FLYBALL_… variables of the environment; flyball config lists them.\nExit status: 0 done, 1 " +
  "failed or a difference was found, 2 wrong usage."

/** The help of one command, or of all. */
export const helpText = (command: string | undefined): string => {
  const one = command === undefined || !Object.hasOwn(usage, command) ? undefined : usage[command]
  if (one !== undefined) return `${one.line}\n\n${one.text}`
  const rows = Object.values(usage).map(({ does, line }) => `  ${line.padEnd(58)}  ${does}`)
  return [
    "flyball: the governor for autonomous software agents",
    "",
    ...rows,
    "",
    "  flyball COMMAND --help",
    "  flyball --version",
    "",
    footer
  ].join("\n")
}

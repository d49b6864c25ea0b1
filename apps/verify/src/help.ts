/** What `flyball-verify --help` prints. */
export const helpText = `flyball-verify checks an evidence pack offline, trusting nobody but the keys you give it.

Usage
  flyball-verify PACK [--vkey V]… [--policy FILE] [--trusted-checkpoint FILE]
                      [--compare PACK2] [--require full|range|any] [--max-age 24h]
                      [--json] [--quiet]

PACK is a file: .evp, .evp.gz or .evp.zst, told apart by its content.

  --vkey V                   A key you trust, got from the chain's owner by another way
                             than the pack: <name>+<key id>+<key>. May be given again.
  --policy FILE              Logs, witnesses and a quorum (C2SP tlog-policy).
  --trusted-checkpoint FILE  A checkpoint you kept from an earlier look. The pack must
                             hold at least as much, and the same beginning.
  --compare PACK2            Another pack of the same chain: do both show one history?
  --require full|range|any   How much of the chain must be there. Default: any.
  --max-age 24h              How old the newest witness cosignature may be: a number
                             and s, m, h or d.
  --json                     Print the report as JSON.
  --quiet                    Print no report; the exit status says it.
  --version, --help

Exit status
  0  Everything asked for holds: the records are intact, and a pinned key signed them.
  1  Tampering, or a bad signature.
  2  Intact, but the trust, completeness or anchor that was asked for is not there.
     Without --vkey or --policy, 2 is the best there is.
  3  Not a readable pack: malformed, of an unknown version, or over a limit.
  4  The verifier itself failed, or was called wrongly. Nothing is said about the pack.
`

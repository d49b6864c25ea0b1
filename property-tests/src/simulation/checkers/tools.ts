/** Lists of tools: a list that nobody approved has one open finding, and an approved one has none. */
import { Effect } from "effect"
import { type Checker, type ReadRecord, recordsBy } from "./checked.ts"

/** See the file's first line. */
export const toolsChecker: Checker = ({ ledger, records }) =>
  Effect.sync(() => {
    const problems: Array<string> = []
    const of = recordsBy(records, "mcp.manifest_seen", ({ body }) => String(body["server_id"]))
    for (const { acknowledged, serverId, tries } of ledger.toolLists.values()) {
      const times = of.get(serverId)?.length ?? 0
      if (acknowledged > 0 && (times < acknowledged || times > tries))
        problems.push(`${serverId} has ${times} lists after ${tries} tries and ${acknowledged} acknowledgements`)
    }
    const resolved = new Map(
      records.filter(({ kind }) => kind === "finding.resolved").map((one) => [String(one.body["finding_id"]), one])
    )
    for (const [id, resolution] of ledger.resolvedFindings)
      if (resolved.get(id)?.body["resolution"] !== resolution) problems.push(`${id} was ${resolution}, and is not`)
    for (const id of of.keys()) problems.push(...walked(id, records))
    return problems.map((problem) => `tools: ${problem}`)
  })

/** Goes through the records of one server, and keeps by hand what is approved and what is open. */
const walked = (serverId: string, records: ReadonlyArray<ReadRecord>): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const approved = new Set<string>()
  const open = new Map<string, string>()
  let [first, last]: [string | null, string] = [null, ""]
  for (const [at, { body, kind, seq }] of records.entries()) {
    const root = String(body["root"])
    if (kind === "finding.resolved") for (const [list, id] of open) if (id === body["finding_id"]) open.delete(list)
    if (body["server_id"] !== serverId) continue
    const isApproved = approved.has(root) || (approved.size === 0 && root === first)
    switch (kind) {
      case "mcp.pinned":
        approved.add(root)
        break
      case "mcp.manifest_changed":
        if (open.has(root)) problems.push(`two findings about one list are open at ${seq}`)
        if (isApproved) problems.push(`an approved list opened a finding at ${seq}`)
        open.set(root, String(body["finding_id"]))
        break
      case "mcp.manifest_seen": {
        const follows = records[at + 1]
        const opens = follows?.kind === "mcp.manifest_changed" && follows.body["listing_id"] === body["listing_id"]
        if (first !== null && root !== last && !isApproved && !opens && !open.has(root))
          problems.push(`a list that nobody approved opened no finding at ${seq}`)
        first ??= root
        last = root
      }
    }
  }
  return problems
}

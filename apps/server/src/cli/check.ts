/** `flyball check`: recomputes the chain, replays the records, compares with the documents. Reads only. */
import { Chain, Replay } from "@flyball/core"
import { command, readArguments } from "./arguments.ts"
import { withHost } from "./with-host.ts"

/** How many findings and differences are printed; the rest is counted. */
const LISTED = 20

const listed = <A>(title: string, items: ReadonlyArray<A>, line: (item: A) => string): void => {
  if (items.length === 0) return
  console.log(`${title}:`)
  for (const item of items.slice(0, LISTED)) console.log(`  ${line(item)}`)
  if (items.length > LISTED) console.log(`  and ${items.length - LISTED} more`)
}

/** Exit status 0 when everything agrees, 1 on any difference. */
export const run = command("check", async (args) => {
  readArguments(args, {})
  return withHost({ readOnly: true }, async (runtime) => {
    const verification = await runtime.runPromise(Chain.use((chain) => chain.verify()))
    const replay = await runtime.runPromise(Replay.use(({ check }) => check))
    console.log(`Chain: ${verification.checked} records recomputed from their stored bytes; ${verification.ok ? "they agree with their hashes, the tree and the last checkpoint" : `${verification.findings.length} findings, the first at record ${verification.first_bad_seq}`}.`)
    listed("Findings", verification.findings, (finding) => `${finding.code}${finding.seq === null ? "" : ` at record ${finding.seq}`}: expected ${finding.expected}, found ${finding.found}`)
    console.log(`Replay: ${replay.records} records folded, ${replay.documents} documents compared; ${replay.differences.length === 0 ? "no difference" : `${replay.differences.length} differences`}${replay.withheld.length === 0 ? "" : `, ${replay.withheld.length} members erased`}.`)
    listed("Differences", replay.differences, (difference) => `${difference.collection}/${difference.id} ${difference.path}: the records say ${JSON.stringify(difference.expected)}, the document ${JSON.stringify(difference.found)}`)
    return verification.ok && replay.ok ? 0 : 1
  })
})

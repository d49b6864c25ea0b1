/** `flyball check`: recomputes the chain, replays the records, compares with the documents. Reads only. */
import { Chain, checkRetired, Replay, type ReplayReport, type RetiredCheck } from "@flyball/core"
import type { VerifyOut } from "@flyball/contract"
import { readArguments } from "./arguments.ts"
import { command, counted, exitStatus } from "./command.ts"
import { withHost } from "./with-host.ts"

/** How many findings and differences are printed; the rest is counted. */
const LISTED = 20
/** Findings that a check of the chain keeps; it may have met more. */
const KEPT = 100

/** Exit status 0 when everything agrees, 1 on any difference. */
export const run = command("check", async (args) => {
  readArguments(args, {})
  return withHost({ readOnly: true, small: true, keyless: true }, async (runtime) => {
    const verification = await runtime.runPromise(Chain.use((chain) => chain.verify()))
    printChain(verification)
    const retired = await runtime.runPromise(checkRetired)
    retired.forEach(printRetired)
    const replay = await runtime.runPromise(Replay.use(({ check }) => check))
    printReplay(replay)
    return verification.ok && replay.ok && retired.every(({ findings }) => findings.length === 0)
      ? exitStatus.ok
      : exitStatus.failed
  })
})

const printChain = ({ checked, checkpoint, findings, ok }: VerifyOut): void => {
  const signed =
    checkpoint === null
      ? "no checkpoint is signed yet"
      : `the last checkpoint covers ${counted(checkpoint.tree_size, "record")}`
  const found = `${findings.length >= KEPT ? "at least " : ""}${counted(findings.length, "finding")}`
  console.log(
    `Chain: ${counted(checked, "record")} recomputed from the stored bytes; ${ok ? `no difference; ${signed}` : found}.`
  )
  printList("Findings", findings, findingLine)
}

const findingLine = ({ code, expected, found, seq }: VerifyOut["findings"][number]): string =>
  `${code}${seq === null ? "" : ` at record ${seq}`}: expected ${expected}, found ${found}`

const printRetired = ({ checked, findings, origin }: RetiredCheck): void => {
  const found =
    findings.length === 0
      ? "as the next chain records them"
      : `${findings.length >= KEPT ? "at least " : ""}${counted(findings.length, "finding")}`
  console.log(`Retired: ${origin}, ${counted(checked, "record")} recomputed; ${found}.`)
  printList("Findings", findings, findingLine)
}

const printReplay = ({
  differences: all,
  documents,
  idempotencyKeys,
  records,
  uncovered,
  withheld
}: ReplayReport): void => {
  const erased = withheld.length === 0 ? "" : `, ${counted(withheld.length, "member")} erased`
  const differences = all.filter(({ collection }) => collection !== "once")
  const ofKeys = all.filter(({ collection }) => collection === "once")
  console.log(
    `Replay: ${counted(records, "record")} folded, ${counted(documents, "document")} compared; ` +
      `${differing(differences)}${erased}.`
  )
  printList(
    "Differences",
    differences,
    (one) => `${one.collection}/${one.id} ${one.path}: the records say ${one.expected}, the document ${one.found}`
  )
  console.log(
    `Idempotency: ${counted(idempotencyKeys, "key")} compared with the records that took them; ${differing(ofKeys)}.`
  )
  printList(
    "Differences",
    ofKeys,
    ({ expected, found, id, path }) =>
      `record ${id}${path === "" ? "" : ` ${path}`}: the records say ${expected}, the table ${found}`
  )
  console.log("Not compared:")
  for (const what of uncovered) console.log(`  ${what}`)
}

const differing = (differences: ReplayReport["differences"]): string =>
  differences.length === 0 ? "no difference" : counted(differences.length, "difference")

const printList = <A>(title: string, items: ReadonlyArray<A>, line: (item: A) => string): void => {
  if (items.length === 0) return
  console.log(`${title}:`)
  for (const item of items.slice(0, LISTED)) console.log(`  ${line(item)}`)
  if (items.length > LISTED) console.log(`  and ${items.length - LISTED} more`)
}

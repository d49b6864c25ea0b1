/**
 * The demo's replay: every verdict, review and approval made again from one pack, and what it says of a verdict that
 * the operator changed.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { nodeCrypto } from "@flyball/evidence/node"
import { openPack, sealPack } from "@flyball/testkit"
import { parsePrivateKey } from "../../packages/node/src/private-key.ts"
import { verify } from "./server.ts"

/** Result of this step. */
export interface Replayed {
  readonly status: number
  readonly statement: string
  readonly mismatches: number
  /** The comparison of behaviour, made again: `the same`, or the member that differs. */
  readonly comparison: string
  readonly altered: {
    readonly status: number
    readonly integrity: string
    readonly authenticity: string
    readonly verdict: string
    readonly reason: string
    readonly isTheOne: boolean
  }
}

/**
 * Makes every verdict of the pack `file` again, the comparison of the file `answer` too, and once more after the
 * verdict of the record `denied` was changed.
 */
export const replay = async ({
  answer,
  denied,
  file,
  folder,
  vkey
}: {
  readonly answer: string
  readonly denied: number
  readonly file: string
  readonly folder: string
  readonly vkey: string
}): Promise<Replayed> => {
  const good = await verify(file, "--vkey", vkey, "--replay", "--answer", answer, "--json")
  const report = JSON.parse(good.stdout)
  const { mismatches, statement } = report.replay
  // The operator has the key. Nothing that is sealed with it can tell that it was sealed a second time, except what it
  // says.
  const signing = parsePrivateKey(readFileSync(`${folder}/signing.key`, "utf8"))
  if (typeof signing === "string") throw new Error(signing)
  const opened = openPack(readFileSync(file))
  const { pack } = await sealPack(
    nodeCrypto,
    {
      ...opened,
      records: opened.records.map((record, seq) =>
        seq === denied ? { ...record, body: { ...record.body, outcome: "allow" } } : record
      )
    },
    signing.seed
  )
  writeFileSync(`${folder}/altered.evp`, pack)
  const bad = await verify(`${folder}/altered.evp`, "--vkey", vkey, "--replay", "--json")
  const altered = JSON.parse(bad.stdout)
  const [mismatch] = altered.replay.mismatches
  return {
    status: good.status,
    statement,
    mismatches: mismatches.length,
    comparison: report.answer.differs ?? "the same",
    altered: {
      status: bad.status,
      integrity: altered.verdicts.integrity,
      authenticity: altered.verdicts.authenticity,
      verdict: mismatch.verdict,
      reason: mismatch.reason,
      isTheOne: mismatch.seq === denied && altered.replay.mismatches.length === 1
    }
  }
}

/** Its lines of the page. */
export const replayedLines = ({ altered, statement, status }: Replayed): ReadonlyArray<string> => [
  `Every verdict was made again offline, from a pack (flyball-verify --replay, exit status ${status}):`,
  ...statement.split("; ").map((sentence, place, all) => `  ${sentence}${place < all.length - 1 ? ";" : ""}`),
  "Then the operator changed one recorded deny to allow and sealed the whole chain anew with its own key. The " +
    `verifier (exit status ${altered.status}) says:`,
  `  integrity ${altered.integrity}, authenticity ${altered.authenticity}, and yet ` +
    `${altered.isTheOne ? "of this one evaluation" : "of others too"}: ${altered.verdict}. ${altered.reason}`
]

/** The verifier's `--replay` as a user calls it, over packs in memory. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ReplayReport } from "../../../apps/verify/src/replay/replay-report.ts"
import { run } from "../../../apps/verify/src/run.ts"

/** The parts of the report that these tests read. */
export interface ReplayedPack {
  readonly status: number
  readonly text: string
  readonly integrity: string
  readonly authenticity: string
  readonly findings: ReadonlyArray<unknown>
  readonly notChecked: ReadonlyArray<string>
  readonly replay: ReplayReport | null
}

/** Verifies and replays a pack with a pinned key, for a program and for a person. */
export const replayed = (pack: Uint8Array, vkey: string, ...args: ReadonlyArray<string>): Promise<ReplayedPack> =>
  called(pack, vkey, args, true)

/** The same for a program alone, which is half the work: `text` is empty. */
export const replayedForProgram = (pack: Uint8Array, vkey: string): Promise<ReplayedPack> =>
  called(pack, vkey, [], false)

const called = async (
  pack: Uint8Array,
  vkey: string,
  args: ReadonlyArray<string>,
  forPerson: boolean
): Promise<ReplayedPack> => {
  const folder = mkdtempSync(join(tmpdir(), "flyball-replay-"))
  try {
    const file = join(folder, "pack.evp")
    writeFileSync(file, pack)
    const call = async (...more: ReadonlyArray<string>) => {
      let out = ""
      const status = await run([file, "--vkey", vkey, "--replay", ...args, ...more], {
        out: async (text) => void (out += text),
        err: async (text) => void (out += text),
        nowMs: () => 0,
        isTerminal: false
      })
      return { status, out: out.replaceAll(folder, "") }
    }
    const { out, status } = await call("--json")
    const { findings, not_checked, replay, verdicts } = JSON.parse(out)
    const person = forPerson ? await call() : { status, out: "" }
    if (person.status !== status) throw new Error(`With --json the status is ${status}, without it ${person.status}.`)
    return {
      status,
      text: person.out,
      integrity: verdicts.integrity,
      authenticity: verdicts.authenticity,
      findings,
      notChecked: not_checked,
      replay
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** How every command ends: with a sentence when it fails, and with an exit status. */
import { UsageError } from "./arguments.ts"

/**
 * Exit statuses of `flyball`.
 *
 * - `failed`: the command did not do its work, or a check found a difference.
 * - `usage`: the command was called wrongly; nothing was written.
 */
export const exitStatus = { ok: 0, failed: 1, usage: 2 } as const

/** A command, as `main.ts` runs it. */
export type Command = (args: ReadonlyArray<string>) => Promise<number>

/** Runs a command's body and turns what is thrown into a sentence and an exit status. */
export const command =
  (name: string, body: Command): Command =>
  async (args) => {
    try {
      return await body(args)
    } catch (cause) {
      const sentence = ended(cause instanceof Error ? cause.message : String(cause))
      console.error(
        `flyball ${name}: ${sentence}${cause instanceof UsageError ? ` flyball ${name} --help says how.` : ""}`
      )
      return cause instanceof UsageError ? exitStatus.usage : exitStatus.failed
    }
  }

const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** "1 record", "2 records". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

/** Reads a command's flags; an unknown or malformed one is a sentence and exit status 2. */
import { parseArgs, type ParseArgsOptionsConfig } from "node:util"

/** A mistake in how a command was called: printed as one sentence, exit status 2. */
export class UsageError extends Error {}

/** Parses flags strictly. Fails with {@link UsageError}. */
export const readArguments = <const O extends ParseArgsOptionsConfig>(args: ReadonlyArray<string>, options: O, positionals = false) => {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: positionals, strict: true })
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message.split(". To specify")[0]! : "The arguments cannot be read")
  }
}

/** A whole number from a flag. Fails with {@link UsageError}. */
export const wholeNumber = (flag: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  if (!/^(0|[1-9]\d{0,15})$/.test(text) || !Number.isSafeInteger(Number(text))) throw new UsageError(`--${flag} should be a whole number, and is ${JSON.stringify(text.slice(0, 40))}`)
  return Number(text)
}

/** Runs a command's body and turns what is thrown into a sentence and an exit status. */
export const command = (name: string, body: (args: ReadonlyArray<string>) => Promise<number>) => async (args: ReadonlyArray<string>): Promise<number> => {
  try {
    return await body(args)
  } catch (cause) {
    if (cause instanceof UsageError) {
      console.error(`flyball ${name}: ${cause.message}. flyball ${name} --help says how.`)
      return 2
    }
    const sentence = cause instanceof Error ? cause.message : String(cause)
    console.error(`flyball ${name}: ${sentence}`)
    return 1
  }
}

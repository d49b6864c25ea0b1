/** Reads a command's flags; an unknown or malformed one is a sentence and exit status 2. */
import { parseArgs, type ParseArgsOptionsConfig } from "node:util"
import { settingsTable } from "../settings/table.ts"
import { nearest } from "../nearest.ts"

/** A mistake in how a command was called: printed as one sentence, exit status 2. */
export class UsageError extends Error {}

/**
 * Parses flags strictly: each is known, has its value, and stands once unless it may repeat. Fails with {@link
 * UsageError}.
 */
export const readArguments = <const O extends ParseArgsOptionsConfig>(
  args: ReadonlyArray<string>,
  options: O,
  positionals = false
) => {
  const parsed = strictly(args, options, positionals)
  const seen = new Set<string>()
  for (const token of parsed.tokens) {
    if (token.kind !== "option") continue
    if (seen.has(token.name) && options[token.name]?.multiple !== true)
      throw new UsageError(`--${token.name} is given twice`)
    if (token.value === "") throw new UsageError(`--${token.name} is empty`)
    seen.add(token.name)
  }
  return parsed
}

const strictly = <const O extends ParseArgsOptionsConfig>(
  args: ReadonlyArray<string>,
  options: O,
  positionals: boolean
) => {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: positionals, strict: true, tokens: true })
  } catch (cause) {
    throw new UsageError(problemOf(cause, options))
  }
}

/** Our words for what `parseArgs` says in a paragraph. */
const problemOf = (cause: unknown, options: ParseArgsOptionsConfig): string => {
  const { code, message } = cause as NodeJS.ErrnoException
  const [, quoted = ""] = /'([^']*)'/.exec(message ?? "") ?? []
  const flag = quoted.split(/[ =]/)[0]!.replace(/^-+/, "")
  switch (code) {
    case "ERR_PARSE_ARGS_UNKNOWN_OPTION": {
      const setting = `FLYBALL_${flag.toUpperCase().replaceAll("-", "_")}`
      if (Object.values(settingsTable).some((row) => row.name === setting))
        return `there is no flag --${flag}; it is a setting of the environment, ${setting}`
      const meant = nearest(flag, Object.keys(options))
      return `there is no flag ${quoted}${meant === null ? "" : `; did you mean --${meant}?`}`
    }
    case "ERR_PARSE_ARGS_INVALID_OPTION_VALUE":
      if (options[flag]?.type === "boolean") return `--${flag} takes no value`
      // Something came behind it that may be the value, or another flag.
      return message!.includes("ambiguous")
        ? `--${flag} needs a value; one that begins with - is written --${flag}=-…`
        : `--${flag} needs a value`
    case "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL":
      return `${JSON.stringify(quoted)} is an unexpected argument`
    default:
      return "the arguments are not valid"
  }
}

/** A whole number from a flag. Fails with {@link UsageError}. */
export const wholeNumber = (flag: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  if (!/^(0|[1-9]\d{0,15})$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw new UsageError(`--${flag} should be a whole number, and is ${JSON.stringify(text.slice(0, 40))}`)
  return Number(text)
}

/** Reads the settings from an environment, all problems at once. */
import { fileProblem } from "../host/file-problem.ts"
import { nearest } from "../nearest.ts"
import { withoutSecrets } from "./without-secrets.ts"
import { type Setting, settingsTable } from "./table.ts"

type Table = typeof settingsTable
type ValueOf<S> = S extends Setting<infer A> ? A : never

/** The settings with their types; `null` where a choice was left to the store. */
export type Settings = {
  readonly [F in keyof Table]: F extends
    | "origin"
    | "guard"
    | "tenantId"
    | "usdInr"
    | "gatewayUpstreams"
    | "oidcIssuer"
    | "oidcRolesSeparator"
    | "oidcGroupsSeparator"
    | "bootstrapAdmin"
    | "trustStore"
    | "metricsToken"
    | "trustedProxies"
    | "otlpEndpoint"
    | "otlpHeaders"
    | "egressAllow"
    | "egressPorts"
    | "secretsKeyFile"
    | "alertEmail"
    | "smtpUrl"
    ? ValueOf<Table[F]> | null
    : ValueOf<Table[F]>
}

/** One setting in force, as `flyball config` prints it. */
export interface EffectiveSetting {
  readonly name: string
  readonly shown: string
  readonly from: "environment" | "file" | "default"
}

/** The outcome: settings, or every problem as a sentence. Warnings do not stop the start. */
export type SettingsRead =
  | {
      readonly ok: true
      readonly settings: Settings
      readonly effective: ReadonlyArray<EffectiveSetting>
      readonly warnings: ReadonlyArray<string>
    }
  | { readonly ok: false; readonly problems: ReadonlyArray<string>; readonly warnings: ReadonlyArray<string> }

/** An environment as `process.env` gives it. */
export type Environment = { readonly [name: string]: string | undefined }

/**
 * Reads and checks every setting.
 *
 * - `readFile` reads the file of a `*_FILE` variable; one trailing newline is dropped.
 * - An empty variable counts as not set.
 */
export const readSettings = (environment: Environment, readFile: (path: string) => string): SettingsRead => {
  const problems: Array<string> = []
  const values: Record<string, unknown> = {}
  const effective: Array<EffectiveSetting> = []
  for (const [field, row] of Object.entries(settingsTable) as ReadonlyArray<[keyof Table, Setting<unknown>]>) {
    const given = givenFor(row, environment, readFile)
    if (given._tag === "Problem") {
      problems.push(given.problem)
      continue
    }
    const text = given.text ?? (field === "database" ? defaultDatabase(environment) : row.fallback)
    if (text === null) {
      values[field] = null
      effective.push({ name: row.name, shown: "(not set)", from: given.from })
      continue
    }
    const parsed = row.parse(text)
    if (!parsed.ok) {
      problems.push(
        `${given.variable} should ${given.from === "file" ? "name a file that holds" : "be"} ` +
          `${parsed.expected}${row.secret ? "" : `, and is ${JSON.stringify(withoutSecrets(text).slice(0, 100))}`}.`
      )
      continue
    }
    values[field] = parsed.value
    effective.push({ name: row.name, shown: row.show(text), from: given.from })
  }
  const warnings = warningsOf(environment)
  return problems.length > 0
    ? { ok: false, problems, warnings }
    : { ok: true, settings: values as unknown as Settings, effective, warnings }
}

type Given =
  | {
      readonly _tag: "Given"
      readonly text: string | null
      readonly from: EffectiveSetting["from"]
      readonly variable: string
    }
  | { readonly _tag: "Problem"; readonly problem: string }

/** Reads the value of a setting from the environment: directly, from the file that `<name>_FILE` names, or nothing. */
const givenFor = (row: Setting<unknown>, environment: Environment, readFile: (path: string) => string): Given => {
  const text = environment[row.name] || null
  const variable = `${row.name}_FILE`
  const file = row.secret ? environment[variable] || null : null
  if (file === null) return { _tag: "Given", text, from: text === null ? "default" : "environment", variable: row.name }
  if (text !== null) return { _tag: "Problem", problem: `${row.name} and ${variable} are both set; set one of them.` }
  // Who puts the secret itself here must not read it again in a log.
  if (file.includes("://"))
    return {
      _tag: "Problem",
      problem: `${variable} should name a file, and its value is an address; set ${row.name} instead.`
    }
  const named = `${variable} names ${JSON.stringify(file)}, which`
  try {
    const content = readFile(file).replace(/\r?\n$/, "")
    return content === ""
      ? { _tag: "Problem", problem: `${named} is empty.` }
      : { _tag: "Given", text: content, from: "file", variable }
  } catch (cause) {
    return { _tag: "Problem", problem: `${named} cannot be read: ${fileProblem(cause)}.` }
  }
}

const defaultDatabase = (environment: Environment): string => {
  const folder = environment[settingsTable.dataDir.name] || settingsTable.dataDir.fallback!
  return `sqlite:${folder.replace(/[\\/]+$/, "")}/flyball.db`
}

/** Variables of `@flyball/client` and its proxy, which a shell has that runs an agent beside these commands. */
const ofClients = ["FLYBALL_KEY", "FLYBALL_SPOOL", "FLYBALL_URL"]

const warningsOf = (environment: Environment): ReadonlyArray<string> => {
  const known = Object.values(settingsTable).flatMap((row) =>
    row.secret ? [row.name, `${row.name}_FILE`] : [row.name]
  )
  return Object.keys(environment)
    .filter((name) => name.startsWith("FLYBALL_") && !name.startsWith("FLYBALL_TEST_"))
    .filter((name) => !known.includes(name) && !ofClients.includes(name))
    .sort()
    .map((name) => {
      const base = name.replace(/_FILE$/, "")
      if (base !== name && known.includes(base))
        return `${name} is not a setting and is ignored. Only secrets can come from a file; set ${base}.`
      const meant = nearest(name, known)
      return `${name} is not a setting and is ignored.${meant === null ? "" : ` Did you mean ${meant}?`}`
    })
}

/** Reads the settings from an environment, all problems at once. */
import { type Setting, settingsTable } from "./table.ts"

type Table = typeof settingsTable
type ValueOf<S> = S extends Setting<infer A> ? A : never

/** The settings with their types; `null` where a setting without a default is not set. */
export type Settings = { readonly [F in keyof Table]: F extends "origin" ? ValueOf<Table[F]> | null : ValueOf<Table[F]> }

/** One setting in force, as `flyball config` prints it. */
export interface EffectiveSetting {
  readonly name: string
  readonly shown: string
  readonly from: "environment" | "file" | "default"
  readonly meaning: string
}

/** The outcome: settings, or every problem as a sentence. Warnings do not stop the start. */
export type SettingsRead =
  | { readonly ok: true; readonly settings: Settings; readonly effective: ReadonlyArray<EffectiveSetting>; readonly warnings: ReadonlyArray<string> }
  | { readonly ok: false; readonly problems: ReadonlyArray<string>; readonly warnings: ReadonlyArray<string> }

/** An environment as `process.env` gives it. */
export type Environment = { readonly [name: string]: string | undefined }

const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length]!
}

const warningsOf = (environment: Environment): ReadonlyArray<string> => {
  const known = Object.values(settingsTable).flatMap((row) => row.secret ? [row.name, `${row.name}_FILE`] : [row.name])
  return Object.keys(environment).filter((name) => name.startsWith("FLYBALL_") && !name.startsWith("FLYBALL_TEST_") && !known.includes(name)).sort().map((name) => {
    const nearest = [...known].sort((a, b) => editDistance(a, name) - editDistance(b, name))[0]!
    return `${name} is not a setting and is ignored.${editDistance(nearest, name) <= 4 ? ` Did you mean ${nearest}?` : ""}`
  })
}

/**
 * Reads and checks every setting.
 *
 * - `readFile` is asked for the file of a `*_FILE` variable; one trailing newline is dropped.
 * - An empty variable counts as not set.
 */
export const readSettings = (environment: Environment, readFile: (path: string) => string): SettingsRead => {
  const problems: Array<string> = []
  const values: Record<string, unknown> = {}
  const effective: Array<EffectiveSetting> = []
  for (const [field, row] of Object.entries(settingsTable) as ReadonlyArray<[keyof Table, Setting<unknown>]>) {
    let from: EffectiveSetting["from"] = "default"
    let given: string | null = field === "database" ? `sqlite:${dataDirOf(environment).replace(/[\\/]+$/, "")}/flyball.db` : row.fallback
    const direct = environment[row.name] || undefined
    const file = row.secret ? environment[`${row.name}_FILE`] || undefined : undefined
    if (direct !== undefined && file !== undefined) problems.push(`${row.name} and ${row.name}_FILE are both set; set one of them.`)
    if (direct !== undefined) [given, from] = [direct, "environment"]
    else if (file !== undefined) {
      try {
        [given, from] = [readFile(file).replace(/\r?\n$/, ""), "file"]
      } catch {
        problems.push(`${row.name}_FILE names a file that cannot be read.`)
        continue
      }
    }
    if (given === null) {
      values[field] = null
      effective.push({ name: row.name, shown: "(not set)", from, meaning: row.meaning })
      continue
    }
    const parsed = row.parse(given)
    if (!parsed.ok) problems.push(`${row.name} should be ${parsed.expected}${row.secret ? "" : `, and is ${JSON.stringify(given.slice(0, 100))}`}.`)
    else {
      values[field] = parsed.value
      effective.push({ name: row.name, shown: row.show(given), from, meaning: row.meaning })
    }
  }
  const warnings = warningsOf(environment)
  return problems.length > 0 ? { ok: false, problems, warnings } : { ok: true, settings: values as unknown as Settings, effective, warnings }
}

const dataDirOf = (environment: Environment): string => environment[settingsTable.dataDir.name] || settingsTable.dataDir.fallback!

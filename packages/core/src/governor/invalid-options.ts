/**
 * Checks the options of a governor before anything is opened: some are fixed for as long as the store lives, and plain
 * JavaScript has no compiler that would check them.
 */
import type { Capability } from "../capability/capability.ts"
import type { GovernorOptions } from "./governor.ts"
import { isTenantId } from "../chain/tenant.ts"
import { GovernorError } from "../foundation/governor-error.ts"

/** Reports whether an option was not given. Null is what many hosts' settings say where there is none. */
export const isLeftOut = (value: unknown): value is null | undefined => value === undefined || value === null

const hasLayer = (value: unknown): boolean => typeof value === "object" && value !== null && "layer" in value

const checks: {
  readonly [K in keyof GovernorOptions]-?: { readonly holds: (value: unknown) => boolean; readonly expected: string }
} = {
  storage: {
    holds: hasLayer,
    expected: "sqliteStorage({ file }) or postgresStorage({ … }) of @flyball/storage-sql, or memoryStorage()"
  },
  keys: { holds: hasLayer, expected: "dataFolder({ dir }) of @flyball/node, or ephemeralKeys()" },
  // Whether it is a valid origin is checked when the chain is opened.
  origin: { holds: (value) => typeof value === "string", expected: "a text, such as flyball.example/acme/prod" },
  tenantId: { holds: isTenantId, expected: "1 to 64 letters, digits, dots, dashes, underscores" },
  trustStore: { holds: hasLayer, expected: "trustFolder(…) of @flyball/node" },
  webhooks: { holds: hasLayer, expected: "pinnedWebhooks(…) of @flyball/node" },
  channelCheckS: {
    holds: (value) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 86_400,
    expected: "whole seconds from 0 (off) to 86400"
  },
  writer: { holds: () => true, expected: "" },
  log: { holds: (value) => typeof value === "function", expected: "a function" },
  capabilities: {
    holds: (value) => Array.isArray(value) && value.every((one) => Array.isArray((one as Capability | null)?.modules)),
    expected: "a list of capabilities, such as [platform()] of @flyball/platform"
  }
}

/**
 * Fails: throws `GovernorError` with `invalid_option` for an option that nothing can be done with, or that there is
 * none of.
 */
export const refuseInvalidOptions = (options: GovernorOptions): void => {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(checks, name))
      throw new GovernorError(
        "invalid_option",
        `There is no option \`${name.slice(0, 64)}\`. There are ${Object.keys(checks).join(", ")}.`
      )
    const { expected, holds } = checks[name as keyof GovernorOptions]
    if (!isLeftOut(value) && !holds(value))
      throw new GovernorError("invalid_option", `\`${name}\` is expected to be ${expected}.`)
  }
  const { problem = null } = options.storage
  if (problem !== null)
    throw new GovernorError("invalid_option", `\`storage\` cannot be used: ${problem}. Nothing was written.`)
}

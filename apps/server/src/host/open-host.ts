/** The governor of this process: store, keys and services, as the settings say. */
import { existsSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import {
  countedStorage,
  ephemeralKeys,
  ChannelPeriod,
  capabilityJobs,
  governorJobs,
  governorLayer,
  type Capability,
  type GovernorServices,
  type KeysChoice,
  keysLayerOf,
  layerOf,
  memoryStorage,
  ownMetrics,
  retiredChainsBeside,
  type Storage,
  type StorageChoice,
  trustLayerOf,
  TrustsCanonicalRoles,
  TrustStoreUnreadable
} from "@flyball/core"
import { watchedStorage } from "@flyball/http/host"
import { examinerThread, trustFolder } from "@flyball/node"
import { platform, readUpstreams, type Upstream } from "@flyball/platform"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { Effect, Layer, ManagedRuntime } from "effect"
import type { Settings } from "../settings/read.ts"
import { tracedGuard, tracedStorage } from "../telemetry/traced-ports.ts"
import { tracingLayer } from "../telemetry/tracing.ts"
import { version } from "../version.ts"
import {
  hasSigningKey,
  makeDataFolder,
  requireDataFolder,
  SECRETS_KEY,
  SIGNING_KEY,
  tellingOfNew,
  tellingOfNewFile
} from "./data-folder.ts"
import { effectLog } from "./effect-log.ts"
import { fileProblem } from "./file-problem.ts"
import { folderKeys } from "./guard.ts"
import { chainIn, keysOfRecords, requireKeyOf } from "./keyless.ts"
import type { Log } from "./log.ts"
import { prepareStoreFile } from "./store-file.ts"
import { bringRetiredAlong } from "./retired-stores.ts"
import { requireSecretsKey, secretsKeyPath, webhookJobs, webhookPorts } from "./webhooks.ts"

/** Products that the server installs. */
export const capabilitiesOf = ({ gatewayUpstreams, usdInr }: Settings): ReadonlyArray<Capability> => [
  platform({
    documents: {},
    ...(usdInr === null ? {} : { usdInr: Number(usdInr) }),
    ...(gatewayUpstreams === null ? {} : { gateway: { upstreams: upstreamsIn(gatewayUpstreams) } })
  })
]

/** The upstreams of a file. Throws a sentence for the operator. */
const upstreamsIn = (file: string): ReadonlyArray<Upstream> => {
  const read = ((): ReadonlyArray<Upstream> | string => {
    try {
      return readUpstreams(readFileSync(file, "utf8"))
    } catch (cause) {
      return fileProblem(cause)
    }
  })()
  if (typeof read === "string") throw new Error(`FLYBALL_GATEWAY_UPSTREAMS names ${resolve(file)}: ${read}`)
  return read
}

/** Runtime for Effects of the governor. Dispose of it to sign a last checkpoint and let go of the store. */
export type HostRuntime = ManagedRuntime.ManagedRuntime<GovernorServices | Storage, unknown>

/** How a command opens the governor. */
export interface OpenHostOptions {
  /** Writes nothing, and works beside a running server. */
  readonly readOnly: boolean
  /** With `readOnly`: a retired chain, in place of the current one. */
  readonly chain?: string
  /**
   * With `readOnly`: goes without the signing key where it is missing, by the keys that the records name. For a
   * command that signs nothing at all.
   */
  readonly keyless?: boolean
  /** Takes less memory and lets reads wait for writes: for a command that does one thing at a time. */
  readonly small?: boolean
  /** Does what time asks for, as long as it is open: for the server. */
  readonly jobs?: boolean
  readonly log: Log
}

/**
 * Opens the governor and waits until it is ready.
 *
 * - Fails: rejects with a sentence for the operator, which names no secret.
 */
export const openHost = async (
  settings: Settings,
  { chain, jobs, keyless = false, log, readOnly, small }: OpenHostOptions
): Promise<HostRuntime> => {
  const inMemory = settings.database.kind === "memory"
  const recorded = keyless && readOnly && !hasSigningKey(settings) ? await withoutKey(settings) : null
  if (!inMemory && !readOnly) await requireKeyOf(settings, storageOf(settings, true))
  if (!inMemory && recorded === null) (readOnly ? requireDataFolder : makeDataFolder)(settings)
  if (settings.database.kind === "sqlite") prepareStoreFile(settings.database.file, readOnly)
  const retired = chain === undefined ? null : await retiredStore(settings, chain)
  const options = { ...(settings.tenantId === null ? {} : { tenantId: settings.tenantId }), readOnly }
  const trust =
    settings.trustStore === null || readOnly ? Layer.empty : trustLayerOf(trustFolder({ dir: settings.trustStore }))
  const store = layerOf(retired ?? storageOf(settings, readOnly, small))
  const keys = keysLayerOf(recorded ?? keysOf(settings, readOnly))
  const stays = jobs === true
  if (stays && !inMemory && (settings.database.kind === "postgres" || existsSync(settings.database.file)))
    await requireSecretsKey(settings, storageOf(settings, true))
  // On SQLite nobody else may write once the store is open; on Postgres they are read only once it is open.
  if (stays && settings.database.kind === "sqlite") await bringRetiredAlong(settings, log)
  const capabilities = capabilitiesOf(settings)
  const governor = governorLayer(
    retired === null ? { ...originOption(settings), ...options, capabilities } : { ...options, retired: true }
  )
  const working = stays
    ? Layer.mergeAll(governorJobs, capabilityJobs(capabilities), webhookJobs(settings)).pipe(
        Layer.provideMerge(governor),
        Layer.provide(webhookPorts(settings))
      )
    : governor
  const layer = working.pipe(
    Layer.provideMerge(
      stays
        ? watchedStorage.pipe(
            Layer.provideMerge(tracedStorage),
            Layer.provideMerge(countedStorage),
            Layer.provideMerge(store)
          )
        : store
    ),
    Layer.provide(stays ? tracedGuard.pipe(Layer.provideMerge(keys)) : keys),
    Layer.provide(trust),
    Layer.provide(Layer.succeed(ChannelPeriod, settings.channelCheckS * 1_000)),
    // The issuer for development vouches for every role.
    Layer.provide(Layer.succeed(TrustsCanonicalRoles, settings.oidcIssuer === null)),
    // A data folder brings it too; a store in memory has none.
    Layer.provide(stays ? examinerThread : Layer.empty),
    // Behind all that makes spans, so that it closes after the last of them.
    Layer.provideMerge(stays ? spansOf(settings) : Layer.empty),
    Layer.provideMerge(effectLog(log)),
    Layer.provideMerge(ownMetrics)
  )
  const runtime: HostRuntime = ManagedRuntime.make(layer)
  const open = () => runtime.context().catch((cause: unknown) => Promise.reject(asStartError(settings, cause)))
  const openTelling = () => tellingOfNew(settings, SIGNING_KEY, open)
  await (inMemory
    ? open()
    : stays
      ? tellingOfNewFile(secretsKeyPath(settings), SECRETS_KEY, openTelling)
      : openTelling())
  if (stays && settings.database.kind === "postgres") await bringRetiredAlong(settings, log)
  return runtime
}

/**
 * Keys choice of a read-only command without a key: the keys that the records name, with a notice on standard error;
 * null where there is no chain to read.
 */
const withoutKey = async (settings: Settings): Promise<KeysChoice | null> => {
  const found = await chainIn(settings, storageOf(settings, true))
  if (found === null) return null
  const { guarded, keys } = await keysOfRecords(settings, found)
  console.error(
    `flyball: there is no ${SIGNING_KEY} in ${resolve(settings.dataDir)}; signatures are checked with the keys that ` +
      `the records name.` +
      (guarded
        ? ""
        : " There is no guard either, so it is unknown whether more records were signed than the store has.")
  )
  return keys
}

/** Spans, where a collector is configured. */
const spansOf = ({
  otelServiceName: serviceName,
  otlpEndpoint: endpoint,
  otlpHeaders,
  tracesSampler: sampler,
  tracesSamplerArg: ratio
}: Settings): Layer.Layer<never> =>
  endpoint === null
    ? Layer.empty
    : tracingLayer({ endpoint, headers: otlpHeaders ?? {}, serviceName, sampler, ratio, version })

/** The store of a retired chain. */
const retiredStore = async (settings: Settings, chain: string): Promise<StorageChoice> => {
  const chains = await Effect.runPromise(retiredChainsBeside(storageOf(settings, true)))
  const found = chains.find(({ origin }) => origin === chain)
  if (found !== undefined) return found.storage
  const known =
    chains.length === 0
      ? "this store has no retired chain"
      : `the retired chains are ${chains.map(({ origin }) => origin).join(", ")}`
  throw new Error(`--chain ${chain.slice(0, 255)}: ${known}. Leave --chain out for the current chain`)
}

const originOption = (settings: Settings) => (settings.origin === null ? {} : { origin: settings.origin })

/** The store that the settings name. */
export const storageOf = ({ database }: Settings, readOnly: boolean, small = false): StorageChoice => {
  switch (database.kind) {
    case "memory":
      return memoryStorage()
    case "sqlite":
      return sqliteStorage({ file: database.file, readOnly, small })
    case "postgres":
      return postgresStorage({ url: database.url, applicationName: "flyball", readOnly })
  }
}

/** Keys in the data folder; with a store in memory they live in memory too, so that each start is a new origin. */
const keysOf = (settings: Settings, readOnly: boolean): KeysChoice =>
  settings.database.kind === "memory" ? ephemeralKeys() : folderKeys(settings, { origin: settings.origin, readOnly })

/** Errors of the storage address an embedding host; an operator has a server to stop. */
export const asStartError = (settings: Settings, cause: unknown): unknown =>
  cause instanceof TrustStoreUnreadable
    ? new Error(`the trust store ${cause.place} cannot be used: ${cause.reason}. FLYBALL_TRUST_STORE names it`, {
        cause
      })
    : settings.database.kind === "sqlite" &&
        cause instanceof Error &&
        cause.message.includes("another process has the database open for writing")
      ? new Error(
          `another process writes ${resolve(settings.database.file)}, probably a running flyball serve. Stop ` +
            "it first: one process at a time writes a SQLite file (several can share a Postgres database)",
          { cause }
        )
      : cause

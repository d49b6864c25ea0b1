/** Entry point for storage packages: the Storage port, and the Guard port for guards that live in a database. */
export * from "./storage/index.ts"
export {
  Guard,
  type GuardApi,
  type GuardChoice,
  guardChoice,
  guardLayerOf,
  sameState,
  type SignedState
} from "./chain/keys/guard.ts"

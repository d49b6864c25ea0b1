/** The Guard port: what a guard outside the data folder is built from. */
export {
  Guard,
  type GuardApi,
  type GuardChoice,
  guardChoice,
  guardLayerOf,
  sameState,
  type SignedState
} from "./chain/keys/guard.ts"

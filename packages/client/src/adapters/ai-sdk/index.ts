/** Governs agents of the AI SDK (npm `ai` 7). What is not listed here may change without notice. */
export type { GovernOptions } from "../framework-calls.ts"
export { ToolNotGoverned } from "../framework-calls.ts"
export { governModel, type ModelOptions } from "./model.ts"
export { governTools } from "./tools.ts"

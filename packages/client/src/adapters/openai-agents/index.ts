/** Governs agents of the OpenAI Agents SDK (npm `@openai/agents`). What is not listed may change without notice. */
export type { GovernOptions } from "../framework-calls.ts"
export { ToolNotGoverned } from "../framework-calls.ts"
export { governAgent, type OpenAiOptions } from "./agent.ts"
export { stopWhenHalted } from "./model.ts"

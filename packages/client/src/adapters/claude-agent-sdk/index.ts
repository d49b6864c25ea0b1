/** Governs agents of the Claude Agent SDK. What is not listed here may change without notice. */
export type { ClaudeGovernance, ClaudeOptions, Hook, HookedEvent, HookMatcher } from "./hooks.ts"
export { governClaude } from "./hooks.ts"

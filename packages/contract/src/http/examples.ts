/** One of each refusal, as it can happen: what the interface description shows. */
import { type Refusal, refusals, type RefusalTag } from "../refusals.ts"

/** The examples that the classes state, by tag. */
export const refusalExamples = Object.fromEntries(
  Object.entries(refusals).map(([tag, { example }]) => [tag, example])
) as unknown as { readonly [T in RefusalTag]: Extract<Refusal, { readonly _tag: T }> }

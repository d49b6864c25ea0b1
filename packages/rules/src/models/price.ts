/** Prices of model calls. Pure: the gateway charges by it, and replay recomputes it. */
import type { ModelDocument } from "./document.ts"

const MTOK = 1_000_000n

/**
 * The cost of a call by the prices of its model, rounded half up; null where a price is missing that it needs. Unit:
 * millionths of a US dollar. Spec: document 1 section 4, GET /models.
 */
export const costMicroUsd = (
  {
    inputMicroUsdPerMtok: inputPrice,
    outputMicroUsdPerMtok: outputPrice
  }: Pick<ModelDocument, "inputMicroUsdPerMtok" | "outputMicroUsdPerMtok">,
  input: number,
  output: number
): number | null => {
  if ((inputPrice === null && input > 0) || (outputPrice === null && output > 0)) return null
  const sum = BigInt(inputPrice ?? 0) * BigInt(input) + BigInt(outputPrice ?? 0) * BigInt(output)
  const cost = Number((sum + MTOK / 2n) / MTOK)
  return Number.isSafeInteger(cost) ? cost : null
}

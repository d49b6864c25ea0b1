/** Reads invoices that are XML: UN/CEFACT CII (Factur-X, ZUGFeRD 1 and 2) and UBL. */
import type { DocumentType } from "./document.ts"
import { find, findAll, readXml, type XmlElement } from "./xml.ts"

/** An invoice as its XML states it. */
export interface XmlInvoice {
  readonly type: DocumentType
  readonly fields: { readonly [name: string]: string }
}

const trees: { readonly [root: string]: "cii" | "ubl" } = {
  CrossIndustryInvoice: "cii",
  CrossIndustryDocument: "cii",
  Invoice: "ubl",
  CreditNote: "ubl"
}
/** UNTDID 1001: credit notes. */
const CREDIT_CODES = ["81", "83", "261", "262", "296", "308", "381", "396", "420", "458", "532"]

/** Reads the text of an XML invoice; null for other XML. */
export const readInvoiceXml = (text: string): XmlInvoice | null => {
  const root = readXml(text)
  if (root === null || trees[root.name] === undefined) return null
  // An early form of ZUGFeRD calls its root Invoice and has the members of CII.
  const cii = trees[root.name] === "cii" || find(root, "HeaderExchangedDocument|ExchangedDocument") !== null
  const { type, values } = cii ? ciiOf(root) : ublOf(root)
  const fields = Object.entries(values).flatMap(([name, value]) =>
    value === null || value === "" ? [] : [[name, value]]
  )
  return { type, fields: Object.fromEntries(fields) }
}

type Values = { readonly [name: string]: string | null }

const textAt = (from: XmlElement | null, path: string): string | null =>
  from === null ? null : (find(from, path)?.text.replace(/\s+/g, " ").trim() ?? null)

const amount = (text: string | null): string | null =>
  text === null || !/^[-+]?\d{1,12}(?:\.\d+)?$/.test(text) ? null : Number(text).toFixed(2)

const dateAt = (from: XmlElement | null, path: string): string | null => {
  const element = from === null ? null : find(from, path)
  const text = element === null ? "" : `${element.text} ${element.children.map((child) => child.text).join(" ")}`.trim()
  const match = /^(\d{4})-?(\d\d)-?(\d\d)/.exec(text)
  return match === null ? null : `${match[1]}-${match[2]}-${match[3]}`
}

const plain = (text: string | null): string | null => text?.replace(/[\s.]/g, "") ?? null

const ciiOf = (root: XmlElement): { readonly type: DocumentType; readonly values: Values } => {
  const head = find(root, "ExchangedDocument|HeaderExchangedDocument")
  const settlement = find(root, "ApplicableHeaderTradeSettlement|ApplicableSupplyChainTradeSettlement")
  const sums =
    settlement === null
      ? null
      : find(settlement, "SpecifiedTradeSettlementHeaderMonetarySummation|SpecifiedTradeSettlementMonetarySummation")
  const seller = find(root, "SellerTradeParty")
  const vat =
    seller === null ? undefined : findAll(seller, "ID").find(({ attributes }) => attributes["schemeID"] === "VA")
  return {
    type: CREDIT_CODES.includes(textAt(head, "TypeCode") ?? "") ? "credit_note" : "invoice",
    values: {
      invoice_number: textAt(head, "ID"),
      date: dateAt(head, "IssueDateTime"),
      due_date: dateAt(settlement, "DueDateDateTime"),
      total: amount(textAt(sums, "GrandTotalAmount")),
      net: amount(textAt(sums, "TaxBasisTotalAmount")),
      tax: amount(textAt(sums, "TaxTotalAmount")),
      currency: textAt(settlement, "InvoiceCurrencyCode"),
      vendor: textAt(seller, "Name"),
      vat_id: plain(vat?.text ?? null),
      iban: plain(textAt(settlement, "PayeePartyCreditorFinancialAccount/IBANID"))
    }
  }
}

const ublOf = (root: XmlElement): { readonly type: DocumentType; readonly values: Values } => {
  const own = (name: string): string | null => root.children.find((child) => child.name === name)?.text.trim() ?? null
  const sums = find(root, "LegalMonetaryTotal")
  const seller = find(root, "AccountingSupplierParty")
  return {
    type: root.name === "CreditNote" || CREDIT_CODES.includes(own("InvoiceTypeCode") ?? "") ? "credit_note" : "invoice",
    values: {
      invoice_number: own("ID"),
      date: dateAt(root, "IssueDate"),
      due_date: dateAt(root, "DueDate"),
      total: amount(textAt(sums, "TaxInclusiveAmount")),
      net: amount(textAt(sums, "TaxExclusiveAmount")),
      tax: amount(textAt(root.children.find(({ name }) => name === "TaxTotal") ?? null, "TaxAmount")),
      currency: own("DocumentCurrencyCode"),
      vendor: textAt(seller, "PartyLegalEntity/RegistrationName") ?? textAt(seller, "PartyName/Name"),
      vat_id: plain(textAt(seller, "PartyTaxScheme/CompanyID")),
      iban: plain(textAt(root, "PayeeFinancialAccount/ID"))
    }
  }
}

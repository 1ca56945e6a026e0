// Words for JSON data whose shape is checked elsewhere.

/** A JSON Schema object. Checked where it is used, not by its type. */
export type JsonSchema = { readonly [keyword: string]: unknown };

export type JsonObject = { [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object that a text is; undefined when it is anything else. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // what that means is for the caller to say
  }
}

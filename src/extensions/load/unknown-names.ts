// What a module names that is not there: imports of the modules that galley serves, members of the API and of the context,
// members of a tool. Found in its text, since a call of what is missing may be made late or never.

import type { SgNode } from "@ast-grep/napi";
import { suggestion } from "../../base/nearest-name.js";

/** An object that modules are given: its members, and those of the objects in it, as far as they are known. */
export interface KnownObject {
  readonly members: readonly string[];
  readonly inner?: Readonly<Record<string, readonly string[]>>;
}

export interface KnownNames {
  /** What the factory is given. */
  readonly api: KnownObject;
  readonly context?: KnownObject;
  /** Undefined for a module that galley does not serve. `standIns`: those of the names that fail when they are used. */
  exportsOf(
    specifier: string,
  ): Promise<{ readonly names: readonly string[]; readonly standIns: readonly string[] } | undefined>;
}

export interface UnknownName {
  readonly line: number;
  readonly sentence: string;
  /** The module works without it until it is used. */
  readonly isLate?: boolean;
}

/** Throws nothing: what cannot be parsed has been told by the load. */
export async function findUnknownNames(source: string, path: string, known: KnownNames): Promise<UnknownName[]> {
  const { Lang, parse } = await import("@ast-grep/napi");
  const root = parse(/x$/.test(path) ? Lang.Tsx : Lang.TypeScript, source).root();
  const found = [...(await unknownImports(root, known)), ...unknownMembers(root, known)];
  return found.sort((a, b) => a.line - b.line);
}

/** Where a plain object in the text has a member of this name. */
export async function lineOfMember(source: string, path: string, name: string): Promise<number | undefined> {
  const { Lang, parse } = await import("@ast-grep/napi");
  const root = parse(/x$/.test(path) ? Lang.Tsx : Lang.TypeScript, source).root();
  const keys = [...all(root, "property_identifier"), ...all(root, "shorthand_property_identifier")];
  const key = keys.find((node) => node.text() === name && node.parent()?.kind() !== "member_expression");
  return key && lineOf(key);
}

async function unknownImports(root: SgNode, known: KnownNames): Promise<UnknownName[]> {
  const found: UnknownName[] = [];
  for (const statement of all(root, importKind("statement"))) {
    const specifier = first(statement, "string")?.text().slice(1, -1) ?? "";
    const served = hasChild(statement, "type") ? undefined : await known.exportsOf(specifier);
    if (!served) continue;
    const { names, standIns } = served;
    const miss = (at: SgNode, name: string) => {
      if (standIns.includes(name)) {
        const sentence = `${specifier}: "${name}" fails when it is used, galley does not have it yet`;
        found.push({ line: lineOf(at), sentence, isLate: true });
      }
      if (names.includes(name)) return;
      const sentence = `${specifier} has no export "${name}" here${suggestion(name, names)}`;
      found.push({ line: lineOf(at), sentence });
    };
    for (const one of all(statement, importKind("specifier"))) {
      const [name, alias = name] = one.children().filter((child) => child.kind() === "identifier");
      if (!name || !alias || hasChild(one, "type") || !isValue(root, alias.text())) continue;
      miss(one, name.text());
    }
    const [whole] = all(statement, "namespace_import");
    const name = whole && first(whole, "identifier")?.text();
    if (name !== undefined)
      for (const { object, property, node } of memberUses(root)) if (object === name) miss(node, property);
  }
  return found;
}

/** A name that only types need is gone when the module runs. */
function isValue(root: SgNode, name: string): boolean {
  const uses = [...all(root, "identifier"), ...all(root, "shorthand_property_identifier")];
  return uses.some((node) => node.text() === name && !node.ancestors().some((above) => isType(String(above.kind()))));
}

function isType(kind: string): boolean {
  return kind === importKind("statement") || kind === "type_query" || kind === "nested_type_identifier";
}

type Role = "api" | "context";

function unknownMembers(root: SgNode, known: KnownNames): UnknownName[] {
  const roles = rolesIn(root);
  const uses = memberUses(root).flatMap((use) => {
    const [name = "", inner] = use.object.split(".");
    const role = roleOf(use.node, name, roles);
    const object = role && known[role];
    const members = inner === undefined ? object?.members : object?.inner?.[inner];
    return members && !members.includes(use.property) ? [{ ...use, members }] : [];
  });
  // A module that looks first, or calls it only if it is there, knows that it may be missing.
  const expected = new Set(uses.filter(({ node }) => isTentative(node)).map(({ property }) => property));
  return uses
    .filter(({ property }) => !expected.has(property))
    .map(({ node, object, property, members }) => ({
      line: lineOf(node),
      sentence: `${object} has no member "${property}" here${suggestion(property, members)}`,
    }));
}

interface MemberUse {
  readonly node: SgNode;
  /** `pi`, or `ctx.ui`. */
  readonly object: string;
  readonly property: string;
}

function memberUses(root: SgNode): MemberUse[] {
  const expressions = all(root, "member_expression").map((node) => ({
    node,
    object: node.field("object"),
    property: node.field("property"),
  }));
  return [...expressions, ...takenApart(root)].flatMap(({ node, object, property }) => {
    const name = object?.text().replaceAll(/[?!]/g, "") ?? "";
    return /^[\w$]+(?:\.[\w$]+)?$/.test(name) ? [{ node, object: name, property: property?.text() ?? "" }] : [];
  });
}

/** `const { ui } = ctx`; a member with a default may be missing. */
function takenApart(root: SgNode) {
  return all(root, "variable_declarator").flatMap((declarator) => {
    const pattern = first(declarator, "object_pattern");
    return (pattern?.children() ?? []).flatMap((node) => {
      const property = node.kind() === "shorthand_property_identifier_pattern" ? node : node.field("key");
      return property ? [{ node, object: declarator.field("value"), property }] : [];
    });
  });
}

function isTentative(node: SgNode): boolean {
  const parent = node.parent();
  const kind = parent?.kind();
  if (kind === "assignment_expression") return parent?.field("left")?.id() === node.id();
  if (kind === "call_expression" || kind === "member_expression")
    return !!parent && parent.text().startsWith(`${node.text()}?.`);
  return kind === "unary_expression" || kind === "binary_expression" || kind === "parenthesized_expression";
}

const functionKinds = ["arrow_function", "function_declaration", "function_expression", "method_definition"];
/** The type itself: what is taken out of it, or has it as a member, is something else. */
const apiType = /^:\s*(?:\w+\.)?(?:ExtensionAPI|HookAPI|CustomToolAPI)(?:\s*\|\s*(?:undefined|null))*$/;
const contextType = /^:\s*(?:\w+\.)?(?:Extension|Hook|CustomTool)\w*Context(?:\s*\|\s*(?:undefined|null))*$/;

/** By the id of a function: what its parameters are. `undefined`: something else. */
type Roles = ReadonlyMap<number, ReadonlyMap<string, Role | undefined>>;

function rolesIn(root: SgNode): Roles {
  const factory = defaultFunction(root);
  const functions = functionKinds.flatMap((kind) => all(root, kind));
  return new Map(
    functions.map((node) => {
      const parameters = parametersOf(node).map(({ name, type }, index) => {
        const isApi = index === 0 && node.id() === factory?.id();
        const role = type === "" && name === "ctx" ? ("context" as const) : roleOfType(type);
        return [name, isApi ? ("api" as const) : role] as const;
      });
      return [node.id(), new Map(parameters)] as const;
    }),
  );
}

function roleOfType(type: string): Role | undefined {
  if (apiType.test(type)) return "api";
  return contextType.test(type) ? "context" : undefined;
}

/** What the module exports as its default, followed through one name. */
function defaultFunction(root: SgNode): SgNode | undefined {
  const statement = all(root, "export_statement").find((node) => hasChild(node, "default"));
  const value = statement
    ?.children()
    .find((child) => functionKinds.includes(String(child.kind())) || child.kind() === "identifier");
  if (value?.kind() !== "identifier") return value;
  const named = [...all(root, "variable_declarator"), ...all(root, "function_declaration")];
  const declared = named.find((node) => node.field("name")?.text() === value.text());
  return declared?.field("value") ?? declared;
}

function parametersOf(node: SgNode): { name: string; type: string }[] {
  const single = node.field("parameter");
  if (single) return [{ name: single.text(), type: "" }];
  const list = node.field("parameters")?.children() ?? [];
  return list
    .filter((child) => /parameter$/.test(String(child.kind())))
    .map((child) => ({
      name: first(child, "identifier")?.text() ?? "",
      type: first(child, "type_annotation")?.text() ?? "",
    }));
}

/** Of the nearest function around it that has a parameter of this name. */
function roleOf(node: SgNode, name: string, roles: Roles): Role | undefined {
  const owner = node.ancestors().find((above) => roles.get(above.id())?.has(name));
  return owner && roles.get(owner.id())?.get(name);
}

function all(node: SgNode, kind: string): SgNode[] {
  return node.findAll({ rule: { kind } });
}

function first(node: SgNode, kind: string): SgNode | undefined {
  return node.children().find((child) => child.kind() === kind);
}

function hasChild(node: SgNode, kind: string): boolean {
  return first(node, kind) !== undefined;
}

function lineOf(node: SgNode): number {
  return node.range().start.line + 1;
}

/** The build keeps literals that begin so for itself. */
function importKind(part: string): string {
  return ["import", part].join("_");
}

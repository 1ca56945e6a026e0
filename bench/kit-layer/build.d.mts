export function buildLayerModule(directory: string): Promise<string>;

/** Every file of ours that everybody fetches first. */
export function firstFiles(): string[];

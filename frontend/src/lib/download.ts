/** Saves what a URL holds as a file of this name. */
export function download(name: string, url: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

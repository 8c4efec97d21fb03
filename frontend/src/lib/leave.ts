/** Leave the application for another page of this server, such as the way to the sign-in provider. */
export function leaveTo(path: string): void {
  window.location.assign(path);
}

import { QRCodeSVG } from "qrcode.react";

/**
 * The link of an enrolment as a QR code, for the camera of an authenticator app.
 * It is drawn in the page, so that the secret is sent nowhere. Dark on white in both themes: many apps read nothing else.
 */
export function EnrolmentCode({ uri }: { uri: string }) {
  return (
    <QRCodeSVG
      value={uri}
      size={200}
      level="M"
      marginSize={4}
      bgColor="#ffffff"
      fgColor="#000000"
      title="QR code of the secret, for the camera of your authenticator app"
      style={{ flexShrink: 0 }}
    />
  );
}

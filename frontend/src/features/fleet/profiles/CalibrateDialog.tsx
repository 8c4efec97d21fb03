import { FileInput, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { Problem } from "@/lib/api/problem";
import { plural } from "@/lib/format";
import { FormDialog } from "@/lib/ui/FormDialog";
import { masksOfText, nameTellsMasks, textOfLog, tooMuch } from "./logFile";
import { useCalibrate } from "./queries";

/** Uploads perftest output files. The mask counts are in the files' names, or are given for those without. */
const FILES = [
  "ib_send_bw, ib_write_lat and the like; several files, gzip too.",
  "The file name encodes the mask counts: cen_20_cde_0_sen_0_sde_80_… (client and server, encapsulation and",
  "decapsulation), or ql_20_qr_80_… (mean lookups).",
].join(" ");

export function CalibrateDialog({
  model,
  onClose,
  onMade,
}: {
  model: string;
  onClose: () => void;
  onMade: (number: number) => void;
}) {
  const [files, setFiles] = useState<File[]>([]);
  const [masks, setMasks] = useState("");
  const [driver, setDriver] = useState("");
  const [firmware, setFirmware] = useState("");
  const [refused, setRefused] = useState<string>();
  const [note, setNote] = useState("");
  const calibrate = useCalibrate(model);
  const nameless = files.filter((file) => !nameTellsMasks(file.name)).length;
  const given = masksOfText(masks);
  const send = async () => {
    const read = await Promise.all(
      files.map(async (file) => ({
        name: file.name,
        text: await textOfLog(file),
        masks: nameTellsMasks(file.name) ? null : given,
      })),
    );
    const refused = tooMuch(read);
    setRefused(refused);
    if (refused) return;
    const made = await calibrate.mutateAsync({
      files: read,
      driver: driver.trim(),
      fw_ver: firmware.trim(),
      limits: {},
      note: note.trim(),
    });
    onClose();
    onMade(made.number);
  };
  return (
    <FormDialog
      title={`Calibrate ${model}`}
      submit="Fit"
      request={calibrate}
      disabled={files.length === 0 || (nameless > 0 && given === null)}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        // The dialog shows the server's errors; what remains is a file that could not be read.
        send().catch((error: unknown) =>
          setRefused(error instanceof Problem ? undefined : `A file cannot be read: ${String(error)}`),
        );
      }}
    >
      <FileInput
        label="perftest output files"
        description={FILES}
        multiple
        required
        value={files}
        onChange={(chosen) => {
          setFiles(chosen);
          setRefused(undefined);
        }}
        placeholder="Choose files"
        error={refused}
      />
      {nameless > 0 && (
        <TextInput
          label="Masks"
          description={`For ${plural(nameless, "file")} without mask counts in the name; ql=0,qr=0 where the lookups are known`}
          placeholder="cen=0,cde=0,sen=0,sde=0"
          value={masks}
          onChange={(event) => setMasks(event.currentTarget.value)}
          error={masks.trim() !== "" && given === null ? "Write cen=0,cde=0,sen=0,sde=0 or ql=0,qr=0" : undefined}
        />
      )}
      <TextInput
        label="Driver"
        description="Empty: all drivers"
        value={driver}
        onChange={(event) => setDriver(event.currentTarget.value)}
        maxLength={100}
      />
      <TextInput
        label="Firmware"
        description="Empty: all firmware versions"
        value={firmware}
        onChange={(event) => setFirmware(event.currentTarget.value)}
        maxLength={100}
      />
      <TextInput label="Note" value={note} onChange={(event) => setNote(event.currentTarget.value)} maxLength={200} />
      <Text size="xs" c="dimmed">
        Nothing changes yet: the fit becomes a candidate that you can review, compare and promote. A fit that is worse
        than the active version is refused.
      </Text>
    </FormDialog>
  );
}

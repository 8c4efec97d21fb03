import { FileInput, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { Problem } from "@/lib/api/problem";
import { FormDialog } from "@/lib/ui/FormDialog";
import { useCalibrate } from "./queries";
import { textOfLog, tooMuch } from "./logFile";
import { masksOfText, nameTellsMasks } from "./masks";

/** Uploads outputs of perftest. The numbers of masks are in the files' names, or are given for those that do not tell them. */
export function CalibrateDialog({ model, onClose, onMade }: { model: string; onClose: () => void; onMade: (number: number) => void }) {
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
    const read = await Promise.all(files.map(async (file) => ({ name: file.name, text: await textOfLog(file), masks: nameTellsMasks(file.name) ? null : given })));
    const refused = tooMuch(read);
    setRefused(refused);
    if (refused) return;
    const made = await calibrate.mutateAsync({ files: read, driver: driver.trim(), fw_ver: firmware.trim(), limits: {}, note: note.trim() });
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
        // What the server said is shown in the dialog; what is left is a file that could not be read.
        send().catch((error: unknown) => setRefused(error instanceof Problem ? undefined : `A file cannot be read: ${String(error)}`));
      }}
    >
      <FileInput
        label="Outputs of perftest"
        description="ib_send_bw, ib_write_lat and the like; several files, gzip too. A name tells under how many masks it was measured: cen_20_cde_0_sen_0_sde_80_… (client and server, encapsulation and decapsulation), or ql_20_qr_80_… (mean queries)"
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
          description={`For the ${nameless === 1 ? "file whose name does" : `${nameless} files whose names do`} not tell; ql=0,qr=0 where the queries are known`}
          placeholder="cen=0,cde=0,sen=0,sde=0"
          value={masks}
          onChange={(event) => setMasks(event.currentTarget.value)}
          error={masks.trim() !== "" && given === null ? "Write cen=0,cde=0,sen=0,sde=0 or ql=0,qr=0" : undefined}
        />
      )}
      <TextInput label="Driver" description="Empty: all drivers" value={driver} onChange={(event) => setDriver(event.currentTarget.value)} maxLength={100} />
      <TextInput label="Firmware" description="Empty: all firmwares" value={firmware} onChange={(event) => setFirmware(event.currentTarget.value)} maxLength={100} />
      <TextInput label="Note" value={note} onChange={(event) => setNote(event.currentTarget.value)} maxLength={200} />
      <Text size="xs" c="dimmed">
        Nothing changes yet: the fit becomes a candidate that you can look at, compare and promote. One that is worse than what is in force is refused.
      </Text>
    </FormDialog>
  );
}

package regent.interop;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.index.IndexHeader;

/** Prints the key index files of a closed store, header, slots and entries. */
final class IndexDump {
    private static final int ENTRY_SIZE = 20;

    private IndexDump() {
    }

    static void run(Arguments arguments) throws Exception {
        MessageStoreConfig settings = StockStore.settings(arguments);
        List<Path> files;
        try (Stream<Path> found = Files.list(Path.of(arguments.text("directory"), "index"))) {
            files = found.sorted().toList();
        }
        for (Path file : files) {
            report(file, settings.getMaxHashSlotNum());
        }
        Report.event("result", "file_count", files.size());
    }

    private static void report(Path file, int slotCount) throws Exception {
        ByteBuffer content = ByteBuffer.wrap(Files.readAllBytes(file));
        IndexHeader header = new IndexHeader(content.duplicate());
        header.load();
        Map<Integer, Integer> slots = new LinkedHashMap<>();
        for (int slot = 0; slot < slotCount; slot++) {
            int newest = content.getInt(IndexHeader.INDEX_HEADER_SIZE + 4 * slot);
            if (newest != 0) {
                slots.put(slot, newest);
            }
        }
        List<List<Long>> entries = new ArrayList<>();
        int entriesAt = IndexHeader.INDEX_HEADER_SIZE + 4 * slotCount;
        for (int number = 1; number < header.getIndexCount(); number++) {
            int at = entriesAt + number * ENTRY_SIZE;
            entries.add(List.of((long) content.getInt(at), content.getLong(at + 4),
                (long) content.getInt(at + 12), (long) content.getInt(at + 16)));
        }
        Report.event("index_file",
            "name", file.getFileName(),
            "size", content.capacity(),
            "begin_timestamp_ms", header.getBeginTimestamp(),
            "end_timestamp_ms", header.getEndTimestamp(),
            "begin_position", header.getBeginPhyOffset(),
            "end_position", header.getEndPhyOffset(),
            "slot_count", header.getHashSlotCount(),
            "next_entry", header.getIndexCount(),
            "slots", slots,
            "entries", entries);
    }
}

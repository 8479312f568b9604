package regent.interop;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/** Counts the requests of a client by their codes. */
final class CountedRequests implements RPCHook {
    private final Map<Integer, AtomicLong> counts = new ConcurrentHashMap<>();

    @Override
    public void doBeforeRequest(String address, RemotingCommand request) {
        counts.computeIfAbsent(request.getCode(), code -> new AtomicLong()).incrementAndGet();
    }

    @Override
    public void doAfterResponse(String address, RemotingCommand request, RemotingCommand response) {
    }

    Map<Integer, AtomicLong> counts() {
        return counts;
    }
}

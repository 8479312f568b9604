// The Go client sends to every queue of a static topic and consumes from it while its queues move.
//
// It takes the options, reads the lines and prints the events of StaticMovesScenario.java.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
	"github.com/apache/rocketmq-client-go/v2/rlog"
)

const (
	reportEvery        = 100 * time.Millisecond
	pauseAfterRefusal  = 10 * time.Millisecond
	consumedWithin     = 60 * time.Second
	answerTimeout      = 15 * time.Second
	consumerGoroutines = 20
)

type fact map[string]any

var printing sync.Mutex

func report(event string, facts fact) {
	line, err := json.Marshal(facts)
	must(err)
	printing.Lock()
	defer printing.Unlock()
	// The test reads lines that begin with the event.
	fmt.Printf("{\"event\":%q,%s\n", event, line[1:])
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		printing.Lock()
		reason, _ := json.Marshal(err.Error())
		fmt.Printf("{\"event\":\"failed\",\"reason\":%s}\n", reason)
		os.Exit(1)
	}
}

// sends has what became of all messages: those of a queue are numbered from 0 on.
type sends struct {
	sync.Mutex
	acknowledged int
	counts       []int
	gaps         []time.Duration
	refused      map[string]int
	faults       []string
}

func (all *sends) acknowledge(queue int, gap time.Duration) {
	all.Lock()
	defer all.Unlock()
	if all.counts[queue] > 0 && gap > all.gaps[queue] {
		all.gaps[queue] = gap
	}
	all.counts[queue]++
	all.acknowledged++
}

func (all *sends) refuse(why string) {
	all.Lock()
	defer all.Unlock()
	all.refused[why]++
}

func (all *sends) fault(text string, values ...any) {
	all.Lock()
	defer all.Unlock()
	all.faults = append(all.faults, fmt.Sprintf(text, values...))
}

// deliveries has what one consumer group received.
type deliveries struct {
	sync.Mutex
	kind      string
	isOrdered bool
	next      map[int]int
	seen      map[[2]int]bool
	repeated  int
	displaced int
	faults    []string
}

func (group *deliveries) take(message *primitive.MessageExt) {
	var queue, number int
	_, err := fmt.Sscanf(string(message.Body), "%d:%d", &queue, &number)
	must(err)
	group.Lock()
	defer group.Unlock()
	if message.Queue.QueueId != queue {
		group.faults = append(group.faults, fmt.Sprintf(
			"%s: message %d of queue %d came as of %d", group.kind, number, queue, message.Queue.QueueId))
	}
	if message.QueueOffset != int64(number) {
		group.displaced++
	}
	if group.seen[[2]int{queue, number}] {
		group.repeated++
		return
	}
	if group.isOrdered && number != group.next[queue] {
		group.faults = append(group.faults, fmt.Sprintf(
			"%s: queue %d: %d came before %d", group.kind, queue, number, group.next[queue]))
	}
	group.seen[[2]int{queue, number}] = true
	for group.seen[[2]int{queue, group.next[queue]}] {
		group.next[queue]++
	}
}

func (group *deliveries) hasAll(counts []int) bool {
	group.Lock()
	defer group.Unlock()
	for queue, count := range counts {
		if group.next[queue] < count {
			return false
		}
	}
	return true
}

func (group *deliveries) received() int {
	group.Lock()
	defer group.Unlock()
	return len(group.seen)
}

// chosen selects the queue whose number a message names.
type chosen struct{}

func (chosen) Select(message *primitive.Message, queues []*primitive.MessageQueue, _ string) *primitive.MessageQueue {
	for _, queue := range queues {
		if queue.QueueId == message.Queue.QueueId {
			return queue
		}
	}
	return nil
}

func send(all *sends, client rocketmq.Producer, topic string, queue int, interval time.Duration, over <-chan struct{}) {
	last, lastAt := int64(-1), time.Now()
	for number := 0; ; number++ {
		due := time.Now().Add(interval)
		refused := 0
		var result *primitive.SendResult
		for {
			message := primitive.NewMessage(topic, fmt.Appendf(nil, "%d:%d", queue, number))
			message.Queue = &primitive.MessageQueue{Topic: topic, QueueId: queue}
			sent, err := client.SendSync(context.Background(), message)
			if err == nil && sent.Status == primitive.SendOK {
				result = sent
				break
			}
			refused++
			all.refuse(fmt.Sprint(err))
			time.Sleep(pauseAfterRefusal)
		}
		if result.QueueOffset <= last || result.QueueOffset > last+1+int64(refused) {
			all.fault("queue %d: offset %d after %d", queue, result.QueueOffset, last)
		}
		last = result.QueueOffset
		now := time.Now()
		all.acknowledge(queue, now.Sub(lastAt))
		lastAt = now
		select {
		case <-over:
			return
		case <-time.After(time.Until(due)):
		}
	}
}

func consume(servers primitive.NsResolver, topic, group, kind string) (*deliveries, rocketmq.PushConsumer) {
	taken := &deliveries{
		kind: kind, isOrdered: kind == "orderly", next: map[int]int{}, seen: map[[2]int]bool{},
	}
	client, err := rocketmq.NewPushConsumer(
		consumer.WithGroupName(group+"-"+kind),
		consumer.WithInstance(kind),
		consumer.WithNsResolver(servers),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
		consumer.WithConsumerOrder(taken.isOrdered),
		consumer.WithConsumeGoroutineNums(consumerGoroutines),
	)
	must(err)
	must(client.Subscribe(topic, consumer.MessageSelector{},
		func(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
			for _, message := range messages {
				taken.take(message)
			}
			return consumer.ConsumeSuccess, nil
		}))
	must(client.Start())
	return taken, client
}

type words []string

func (all *words) String() string { return fmt.Sprint([]string(*all)) }

func (all *words) Set(word string) error {
	*all = append(*all, word)
	return nil
}

func main() {
	var kinds words
	nameServer := flag.String("name-server", "", "address of the name server")
	topic := flag.String("topic", "", "name of the static topic")
	group := flag.String("group", "", "beginning of the names of the consumer groups")
	queueCount := flag.Int("queues", 0, "number of logical queues of the topic")
	rate := flag.Int("rate", 0, "messages a second")
	flag.Var(&kinds, "consumer", "orderly or concurrent; may be repeated")
	flag.Parse()
	rlog.SetLogLevel("error")
	servers := primitive.NewPassthroughResolver([]string{*nameServer})
	client, err := rocketmq.NewProducer(
		producer.WithGroupName("interop-static"),
		producer.WithInstanceName("producer"),
		producer.WithNsResolver(servers),
		producer.WithQueueSelector(chosen{}),
		producer.WithSendMsgTimeout(answerTimeout),
		producer.WithRetry(0),
	)
	must(err)
	must(client.Start())
	var groups []*deliveries
	var consumers []rocketmq.PushConsumer
	for _, kind := range kinds {
		taken, started := consume(servers, *topic, *group, kind)
		groups, consumers = append(groups, taken), append(consumers, started)
	}
	all := &sends{counts: make([]int, *queueCount), gaps: make([]time.Duration, *queueCount), refused: map[string]int{}}
	over := make(chan struct{})
	var senders sync.WaitGroup
	interval := time.Second * time.Duration(*queueCount) / time.Duration(*rate)
	for queue := 0; queue < *queueCount; queue++ {
		senders.Add(1)
		go func(queue int) {
			defer senders.Done()
			send(all, client, *topic, queue, interval, over)
		}(queue)
	}
	watch(all, groups)
	close(over)
	senders.Wait()
	awaitAll(all, groups)
	for _, one := range consumers {
		must(one.Shutdown())
	}
	must(client.Shutdown())
	finish(all, groups, *queueCount)
}

// watch reports until a line says that it is enough.
func watch(all *sends, groups []*deliveries) {
	lines := make(chan string)
	go func() {
		read := bufio.NewScanner(os.Stdin)
		for read.Scan() {
			lines <- read.Text()
		}
	}()
	for {
		select {
		case line := <-lines:
			if line == "stop" {
				return
			}
			all.Lock()
			all.gaps = make([]time.Duration, len(all.gaps))
			all.Unlock()
		case <-time.After(reportEvery):
		}
		received := map[string]int{}
		for _, one := range groups {
			received[one.kind] = one.received()
		}
		all.Lock()
		report("progress", fact{"acknowledged": all.acknowledged, "refused": all.refused, "received": received})
		all.Unlock()
	}
}

func awaitAll(all *sends, groups []*deliveries) {
	deadline := time.Now().Add(consumedWithin)
	for _, one := range groups {
		for !one.hasAll(all.counts) {
			if time.Now().After(deadline) {
				must(fmt.Errorf("%s received %d of %d messages", one.kind, one.received(), all.acknowledged))
			}
			time.Sleep(pauseAfterRefusal)
		}
	}
}

func finish(all *sends, groups []*deliveries, queueCount int) {
	repeated, displaced := map[string]int{}, map[string]int{}
	faults := append([]string{}, all.faults...)
	for _, one := range groups {
		repeated[one.kind], displaced[one.kind] = one.repeated, one.displaced
		faults = append(faults, one.faults...)
	}
	gaps := []float64{}
	for _, gap := range all.gaps {
		gaps = append(gaps, float64(gap.Microseconds())/1000)
	}
	report("result", fact{
		"acknowledged": all.acknowledged, "queues": queueCount, "refused": all.refused, "faults": faults,
		"repeated": repeated, "displaced": displaced, "gaps_ms": gaps,
	})
}

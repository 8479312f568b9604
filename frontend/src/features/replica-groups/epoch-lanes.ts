import type { LogHistoryFieldsFragment } from '@/gql/operations';

export type LogHistory = LogHistoryFieldsFragment;

/** The part of a log that one epoch wrote; `left` and `width` are shares of the whole picture. */
export type EpochBar = {
  epoch: number;
  brokerId: string;
  startOffset: string;
  endOffset: string;
  /** The newest epoch of a log may still grow. */
  isOpen: boolean;
  /** Whether the first place at which logs part is the beginning of this epoch. */
  isDiffering: boolean;
  left: number;
  width: number;
};

export type Lane = {
  brokerId: string;
  address: string;
  /** Null when the replica did not answer; then `error` says why. */
  bars: EpochBar[] | null;
  error: string | null;
};

export type EpochPicture = { startOffset: string; endOffset: string; lanes: Lane[] };

function endsOf(history: LogHistory): bigint[] {
  if (history.epochs === null || history.maxOffset === null) return [];
  return [
    BigInt(history.maxOffset),
    ...history.epochs.flatMap(({ startOffset, endOffset }) => [
      BigInt(startOffset),
      BigInt(endOffset ?? startOffset),
    ]),
  ];
}

function least(numbers: bigint[]): bigint {
  return numbers.reduce((left, right) => (right < left ? right : left));
}

function greatest(numbers: bigint[]): bigint {
  return numbers.reduce((left, right) => (right > left ? right : left));
}

/** Lays every log over one scale of bytes, from the oldest kept byte to the farthest end. */
export function layOutEpochs(histories: LogHistory[], differingEpoch: number | null): EpochPicture {
  const ends = histories.flatMap(endsOf);
  const start = ends.length > 0 ? least(ends) : 0n;
  const end = ends.length > 0 ? greatest(ends) : 0n;
  const whole = Math.max(1, Number(end - start));
  const share = (from: bigint, to: bigint) => Number(to - from) / whole;
  const barsOf = ({ brokerId, epochs, maxOffset }: LogHistory): EpochBar[] | null => {
    if (epochs === null || maxOffset === null) return null;
    return epochs.map(({ epoch, startOffset, endOffset }) => {
      const to = endOffset ?? maxOffset;
      return {
        epoch,
        brokerId,
        startOffset,
        endOffset: to,
        isOpen: endOffset === null,
        isDiffering: epoch === differingEpoch,
        left: share(start, BigInt(startOffset)),
        width: share(BigInt(startOffset), BigInt(to)),
      };
    });
  };
  return {
    startOffset: String(start),
    endOffset: String(end),
    lanes: histories.map((history) => ({
      brokerId: history.brokerId,
      address: history.address,
      bars: barsOf(history),
      error: history.error,
    })),
  };
}

import { useTranslation } from 'react-i18next';
import { Notice } from './notice';

const shownMax = 5;

type UnknownBroker = { name: string; address: string; why: string };

type UnknownBrokersProps = { unknown: readonly UnknownBroker[] };

/** Names the brokers that did not list all: a missing entry does not mean that there is none. */
export function UnknownBrokers({ unknown }: UnknownBrokersProps) {
  const { t } = useTranslation();
  if (unknown.length === 0) return null;
  const count = unknown.length;
  const texts = unknown.slice(0, shownMax).map((one) => `${one.name} (${one.address}): ${one.why}`);
  return (
    <Notice tone="warn" title={t('unknownBrokers.title', { count })}>
      {texts.join(' · ')}
      {count > shownMax ? ` ${t('unknownBrokers.more', { count: count - shownMax })}` : null}
    </Notice>
  );
}

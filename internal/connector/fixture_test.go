package connector

import (
	"context"
	"maps"
	"sync"
	"time"

	"adlens"
)

// memory is a store of attempts and connections in memory; what a test does
// not need is not there.
type memory struct {
	Store
	mu       sync.Mutex
	attempts map[string]attempt
	held     map[string]bool
	accounts map[string]bool     // that are connected
	days     map[adlens.Day]bool // that are held
	legacy   map[string]bool     // profiles that need legacy reports
}

type attempt struct {
	began    time.Time
	failures int
}

func newMemory(connected ...string) *memory {
	m := &memory{attempts: map[string]attempt{}, held: map[string]bool{}, accounts: map[string]bool{}}
	for _, account := range connected {
		m.accounts[account] = true
	}
	return m
}

func (m *memory) Connections(_ context.Context, account string) ([]adlens.Connection, error) {
	if !m.accounts[account] {
		return nil, nil
	}
	return []adlens.Connection{{Account: account, Name: "NA", Region: "NA", Profiles: []string{"1", "2"}}}, nil
}

func (m *memory) LegacyProfiles(context.Context, string) (map[string]bool, error) {
	return m.legacy, nil
}

func (m *memory) HeldDays(context.Context, string, string, adlens.AdProduct) (map[adlens.Day]bool, error) {
	return maps.Clone(m.days), nil
}

func (m *memory) Attempt(_ context.Context, name string) (adlens.Attempt, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.attempts[name]
	return adlens.Attempt{Age: time.Since(a.began), Failures: a.failures}, ok, nil
}

func (m *memory) BeginAttempt(_ context.Context, name string, failures int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.attempts[name] = attempt{time.Now(), failures}
	return nil
}

func (m *memory) EndAttempt(_ context.Context, name string, failures int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.attempts[name] = attempt{m.attempts[name].began, failures}
	return nil
}

func (m *memory) Try(_ context.Context, name string) (func() error, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held[name] {
		return nil, false, nil
	}
	m.held[name] = true
	return func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.held, name)
		return nil
	}, true, nil
}

func (m *memory) Held(_ context.Context, name string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held[name], nil
}

func (m *memory) Lock(ctx context.Context, name string, waits func(string)) (func() error, error) {
	for said := false; ; said = true {
		if release, ok, err := m.Try(ctx, name); ok || err != nil {
			return release, err
		}
		if !said {
			waits("another process")
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

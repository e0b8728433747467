package bindings

import (
	"bulkhead"
	"context"
	"testing"
)

// Numbers to look at, asked for by hand: -test.bench=. of the program that run.py builds.

func BenchmarkDo(b *testing.B) {
	_, s := opened(b)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if _, err := s.Do(ctx, "host.inspect", nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	_, s := opened(b)
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if _, err := s.Call(ctx, "host.inspect", nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCallParallel(b *testing.B) {
	_, s := opened(b)
	b.SetParallelism(16)
	b.ResetTimer()
	b.RunParallel(func(next *testing.PB) {
		for next.Next() {
			if _, err := s.Call(ctx, "host.inspect", nil); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkServedTool(b *testing.B) {
	_, s := opened(b)
	serve(b, s, ctx, tool("echo"), func(_ context.Context, ask *bulkhead.Ask) (any, error) {
		return string(ask.Args), nil
	})
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if _, err := s.Call(ctx, "tool.call", object{"name": "echo"}); err != nil {
			b.Fatal(err)
		}
	}
}
